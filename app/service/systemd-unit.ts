import { formatOwnerLine, REMOVED_BY, requireSingleLine, type ServiceProgram } from './service-program.ts';

/**
 * The target that starts the unit: that of a desktop session, if the session reaches it, otherwise that of every login, for a
 * machine without a desktop.
 */
export type SystemdTarget = 'graphical-session.target' | 'default.target';

/**
 * Formats a unit of the user's systemd (systemd.service(5)). It starts and stops with the session. It does not restart after the
 * exit codes 2 and 3, a wrong command line and another Hivebar, which would repeat.
 */
export function formatSystemdUnit(program: ServiceProgram, target: SystemdTarget): string {
  const session = target === 'graphical-session.target' ? [`After=${target}`, `PartOf=${target}`] : [];
  return `${[
    `# ${formatOwnerLine(program)} ${REMOVED_BY}`,
    '[Unit]',
    'Description=Hivebar, the inboxes of the agents on this machine',
    ...session,
    '',
    '[Service]',
    `ExecStart=${[quoteSystemdWord(program.node), ...[program.entry, 'run'].map(quoteArgument)].join(' ')}`,
    ...formatEnvironmentLines(program),
    'Restart=on-failure',
    'RestartSec=5',
    'RestartPreventExitStatus=2 3',
    '',
    '[Install]',
    `WantedBy=${target}`,
  ]
    .map(requireSingleLine)
    .join('\n')}\n`;
}

export function formatEnvironmentLines({ environment }: ServiceProgram): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `Environment=${quoteSystemdWord(`${name}=${value}`)}`);
}

/** Puts one word in double quotes. `%` would begin a specifier. */
export function quoteSystemdWord(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** Quotes an argument of the program. Only there, `$` would begin a variable. */
export function quoteArgument(word: string): string {
  return quoteSystemdWord(word).replaceAll('$', '$$$$');
}
