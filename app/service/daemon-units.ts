import { type DaemonName, PREFIX, toJoinedName } from '../../core/link/index.ts';
import type { TaskKind } from './logon-task.ts';
import { formatEnvironmentVariables, formatProgramArguments, formatPropertyList } from './property-list.ts';
import { formatOwnerLine, requireSingleLine, type ServiceProgram } from './service-program.ts';
import { formatEnvironmentLines, quoteArgument, quoteSystemdWord } from './systemd-unit.ts';

/** A persona daemon as the launcher of the platform starts it (persona daemon, contract 7). */
export interface DaemonUnit extends DaemonName {
  readonly program: ServiceProgram;
  readonly project: string;
}

/** The label of launchd, and with `.service` the unit of systemd. */
export const formatDaemonUnitName = (daemon: DaemonName): string => `${PREFIX}-${toJoinedName(daemon)}`;

/** A task with its folder. */
export const formatDaemonTaskName = (daemon: DaemonName): string => `\\Hivebar\\${formatDaemonUnitName(daemon)}`;

const formatRemovedBy = (daemon: DaemonName): string =>
  `\`hivebar daemon uninstall ${toJoinedName(daemon)}\` removes it.`;

const formatOwnerComment = (unit: DaemonUnit): string => `${formatOwnerLine(unit.program)} ${formatRemovedBy(unit)}`;

/**
 * A unit of the user's systemd. Again after every death but a clean stop and 78, a configuration that would be the same
 * again. `RestartSteps=` needs systemd 254, so the pauses that grow are the program's own.
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
 * A LaunchAgent (launchd.plist(5)). launchd restarts by success and failure alone: `--stays-down` makes 78 a success. `Umask`
 * is 0077 in decimal. From the file's documentation; not verified on a machine.
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
 * A task of the Task Scheduler, the default on Windows: 10 s after the logon, so that what it connects to is there, and again
 * a minute after it failed, which is the least the scheduler knows. Node itself is what it starts: the scheduler has to see
 * its exit code. From the schema's documentation; not verified on a machine.
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

/** All else it reads in its configuration; these say which one, and what it must agree with. */
function listRunWords({ tenant, identity, project }: DaemonUnit): readonly string[] {
  return ['daemon', 'run', '--tenant', tenant, '--identity', identity, '--project', project];
}
