/** What is started at login. All paths are absolute: the current folder at login is not ours. */
export interface ServiceProgram {
  readonly node: string;
  /** The file that node runs. */
  readonly entry: string;
  /** The state directory: two Hivebars with different ones do not take each other's entry for their own. */
  readonly state: string;
  /** What has to be set for it to be this Hivebar: `HIVEBAR_HOME`, or nothing. */
  readonly environment: Readonly<Record<string, string>>;
}

/** By this line we know what we wrote, and for which state directory. */
export function formatOwnerLine({ state }: ServiceProgram): string {
  return `Written by Hivebar for ${state}.`;
}

/** Of any Hivebar. */
export const OWNER_LINE_START = 'Written by Hivebar for ';

export const REMOVED_BY = '`hivebar service uninstall` removes it.';

/** @throws RangeError for a path with a control character, which no line of a unit can hold */
export function requireSingleLine(text: string): string {
  const bad = /[\p{Cc}\u2028\u2029]/u.exec(text);
  if (bad !== null) throw new RangeError(`${JSON.stringify(text)} has a control character`);
  return text;
}
