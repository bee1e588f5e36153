import { type DaemonName, PREFIX, toJoinedName } from '../../core/link/index.ts';
import type { TaskKind } from './logon-task.ts';
import { formatEnvironmentVariables, formatProgramArguments, formatPropertyList } from './property-list.ts';
import { formatOwnerLine, requireSingleLine, type ServiceProgram } from './service-program.ts';
import { formatEnvironmentLines, quoteArgument, quoteSystemdWord } from './systemd-unit.ts';

/** A persona daemon in the form in which the launcher of the platform starts it (persona daemon, contract 7). */
export interface DaemonUnit extends DaemonName {
  readonly program: ServiceProgram;
  readonly project: string;
}

/** Formats the label for launchd. With `.service` it is the name of the unit of systemd. */
export const formatDaemonUnitName = (daemon: DaemonName): string => `${PREFIX}-${toJoinedName(daemon)}`;

/** Formats the name of a task, with its folder. */
export const formatDaemonTaskName = (daemon: DaemonName): string => `\\Hivebar\\${formatDaemonUnitName(daemon)}`;

const formatRemovedBy = (daemon: DaemonName): string =>
  `\`hivebar daemon uninstall ${toJoinedName(daemon)}\` removes it.`;

const formatOwnerComment = (unit: DaemonUnit): string => `${formatOwnerLine(unit.program)} ${formatRemovedBy(unit)}`;

/**
 * Formats a unit of the user's systemd. It restarts after every exit except a clean stop and 78, a configuration error that would
 * repeat. `RestartSteps=` needs systemd 254, so the growing waits are the program's own.
 */
export function formatDaemonSystemdUnit(unit: DaemonUnit): string {
  const { program, tenant, identity } = unit;
  return `${[
    `# ${formatOwnerComment(unit)}`,
    '[Unit]',
    `Description=Persona daemon of ${identity} at ${tenant}, by Hivebar`,
    'StartLimitIntervalSec=300',
    'StartLimitBurst=10',
    '',
    '[Service]',
    'Type=simple',
    `ExecStart=${[quoteSystemdWord(program.node), ...[program.entry, ...listRunWords(unit)].map(quoteArgument)].join(' ')}`,
    ...formatEnvironmentLines(program),
    'Restart=on-failure',
    'RestartSec=2',
    'RestartPreventExitStatus=78',
    'KillMode=mixed',
    'TimeoutStopSec=5',
    `RuntimeDirectory=${PREFIX}/${toJoinedName(unit)}`,
    'RuntimeDirectoryMode=0700',
    'UMask=0077',
    `SyslogIdentifier=${formatDaemonUnitName(unit)}`,
    'NoNewPrivileges=yes',
    '',
    '[Install]',
    'WantedBy=default.target',
  ]
    .map(requireSingleLine)
    .join('\n')}\n`;
}

/**
 * Formats a LaunchAgent (launchd.plist(5)). launchd restarts by success and failure only, so `--stays-down` turns 78 into a
 * success. `Umask` is 0077 in decimal. From the file's documentation; not verified on a machine.
 */
export function formatDaemonLaunchAgent(unit: DaemonUnit): string {
  const { program } = unit;
  return formatPropertyList(formatOwnerComment(unit), [
    `  <key>Label</key><string>${formatDaemonUnitName(unit)}</string>`,
    ...formatProgramArguments([program.node, program.entry, ...listRunWords(unit), STAYS_DOWN]),
    ...formatEnvironmentVariables(program.environment),
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>10</integer>',
    '  <key>ExitTimeOut</key><integer>5</integer>',
    '  <key>ProcessType</key><string>Background</string>',
    '  <key>Umask</key><integer>63</integer>',
    '  <key>LimitLoadToSessionType</key>',
    '  <array>',
    '    <string>Aqua</string>',
    '    <string>Background</string>',
    '  </array>',
  ]);
}

/**
 * Creates a task of the Task Scheduler, the default on Windows. It starts 10 s after the logon, so that its upstream is there,
 * and again a minute after a failure, which is the shortest time that the scheduler allows. It starts node itself, because the
 * scheduler needs its exit code. From the schema's documentation; not verified on a machine.
 */
export function createDaemonTaskKind(unit: DaemonUnit): TaskKind {
  return {
    words: [...listRunWords(unit), STAYS_DOWN],
    removedBy: formatRemovedBy(unit),
    restarts: 999,
    starts: 'node',
    delay: 'PT10S',
    startWhenAvailable: true,
    encoding: 'UTF-16',
  };
}

const STAYS_DOWN = '--stays-down';

/** These arguments identify the configuration and must agree with it. Everything else is read from it. */
function listRunWords({ tenant, identity, project }: DaemonUnit): readonly string[] {
  return ['daemon', 'run', '--tenant', tenant, '--identity', identity, '--project', project];
}
