/** Formats an XDG autostart entry (Desktop Entry Specification 1.5, "The Exec key"), which every desktop session reads. */
export function formatAutostartEntry(program: ServiceProgram): string {
  return `${[
    `# ${formatOwnerLine(program)} ${REMOVED_BY}`,
    '[Desktop Entry]',
    'Type=Application',
    'Name=Hivebar',
    'Comment=The inboxes of the agents on this machine',
    formatExecLine(program),
    `TryExec=${program.node.replaceAll('\\', '\\\\')}`,
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
  ]
    .map(requireSingleLine)
    .join('\n')}\n`;
}

/** Formats the line that starts the program. */
export function formatExecLine({ node, entry, environment }: ServiceProgram): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length === 0 ? [] : ['/usr/bin/env', ...variables]), node, entry, 'run'];
  return `Exec=${words.map(quoteDesktopWord).join(' ')}`;
}

/** Returns false when the person switched the entry off in the settings of the desktop, which do not remove the file. */
export function isEnabledEntry(text: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(text);
}

/** Quotes for the command first, then escapes like every string of such a file. `%` would begin a field code. */
function quoteDesktopWord(word: string): string {
  const argument = word.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${argument.replaceAll('\\', '\\\\')}"`;
}

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
