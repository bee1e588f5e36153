import { line, markOf, type Program, REMOVED_BY } from './program.ts';

/** An XDG autostart entry (Desktop Entry Specification 1.5, "The Exec key"), which every desktop session reads. */
export function autostartEntry(program: Program): string {
  return `${[
    `# ${markOf(program)} ${REMOVED_BY}`,
    '[Desktop Entry]',
    'Type=Application',
    'Name=Hivebar',
    'Comment=The inboxes of the agents on this machine',
    execLine(program),
    `TryExec=${program.node.replaceAll('\\', '\\\\')}`,
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
  ]
    .map(line)
    .join('\n')}\n`;
}

/** The line that starts the program. */
export function execLine({ node, entry, environment }: Program): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length === 0 ? [] : ['/usr/bin/env', ...variables]), node, entry, 'run'];
  return `Exec=${words.map(quoted).join(' ')}`;
}

/** False when the person switched it off in the settings of the desktop, which leave the file in its place. */
export function isEnabledEntry(text: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(text);
}

/** Quoted for the command first, then escaped as every string of such a file is. `%` would begin a field code. */
function quoted(word: string): string {
  const argument = word.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${argument.replaceAll('\\', '\\\\')}"`;
}
