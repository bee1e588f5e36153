import { formatOwnerLine, REMOVED_BY, requireSingleLine, type ServiceProgram } from './service-program.ts';

/** An XDG autostart entry (Desktop Entry Specification 1.5, "The Exec key"), which every desktop session reads. */
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

/** The line that starts the program. */
export function formatExecLine({ node, entry, environment }: ServiceProgram): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length === 0 ? [] : ['/usr/bin/env', ...variables]), node, entry, 'run'];
  return `Exec=${words.map(quoteDesktopWord).join(' ')}`;
}

/** False when the person switched it off in the settings of the desktop, which leave the file in its place. */
export function isEnabledEntry(text: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(text);
}

/** Quoted for the command first, then escaped as every string of such a file is. `%` would begin a field code. */
function quoteDesktopWord(word: string): string {
  const argument = word.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${argument.replaceAll('\\', '\\\\')}"`;
}
