import { line, markOf, type Program, REMOVED_BY } from './program.ts';

/**
 * What pulls the unit in: the target of a desktop session, where the session reaches it; else the one of every login, for
 * a machine without a desktop.
 */
export type Target = 'graphical-session.target' | 'default.target';

/**
 * A unit of the user's systemd (systemd.service(5)). It comes and goes with the session. The exit codes 2 and 3, a wrong
 * command line and another Hivebar, would be the same again.
 */
export function systemdUnit(program: Program, target: Target): string {
  const session = target === 'graphical-session.target' ? [`After=${target}`, `PartOf=${target}`] : [];
  return `${[
    `# ${markOf(program)} ${REMOVED_BY}`,
    '[Unit]',
    'Description=Hivebar, the inboxes of the agents on this machine',
    ...session,
    '',
    '[Service]',
    `ExecStart=${[quoted(program.node), ...[program.entry, 'run'].map(argument)].join(' ')}`,
    ...environmentLines(program),
    'Restart=on-failure',
    'RestartSec=5',
    'RestartPreventExitStatus=2 3',
    '',
    '[Install]',
    `WantedBy=${target}`,
  ]
    .map(line)
    .join('\n')}\n`;
}

export function environmentLines({ environment }: Program): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
}

/** One word in double quotes; `%` would begin a specifier. */
export function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** In what stands behind the program, and there alone, `$` would begin a variable. */
export function argument(word: string): string {
  return quoted(word).replaceAll('$', '$$$$');
}
