/** What is started at login. All paths are absolute, because the current folder at login is another one. */
export interface ServiceProgram {
  readonly node: string;
  /** The file that node runs. */
  readonly entry: string;
  /** The state directory. Two Hivebars with different ones do not mistake each other's entry for their own. */
  readonly state: string;
  /** The variables that make it this Hivebar: `HIVEBAR_HOME`, or none. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Formats the line that identifies what we wrote, and for which state directory. */
export function formatOwnerLine({ state }: ServiceProgram): string {
  return `Written by Hivebar for ${state}.`;
}

/** The start of that line, for any Hivebar. */
export const OWNER_LINE_START = 'Written by Hivebar for ';

export const REMOVED_BY = '`hivebar service uninstall` removes it.';

/** @throws RangeError for a path with a control character, which no line of a unit can contain */
export function requireSingleLine(text: string): string {
  const bad = /[\p{Cc}\u2028\u2029]/u.exec(text);
  if (bad !== null) throw new RangeError(`${JSON.stringify(text)} has a control character`);
  return text;
}
