import { formatOwnerLine, REMOVED_BY, requireSingleLine, type ServiceProgram } from './service-program.ts';

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
