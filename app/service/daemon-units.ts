import { type DaemonName, joinedName, PREFIX } from '../../core/link/index.ts';
import type { TaskKind } from './logon-task.ts';
import { line, markOf, type Program } from './program.ts';
import { environmentVariables, programArguments, propertyList } from './property-list.ts';
import { argument, environmentLines, quoted } from './systemd-unit.ts';

/** A persona daemon as the launcher of the platform starts it (persona daemon, contract 7). */
export interface DaemonUnit extends DaemonName {
  readonly program: Program;
  readonly project: string;
}

/** The label of launchd, and with `.service` the unit of systemd. */
export const daemonUnitName = (daemon: DaemonName): string => `${PREFIX}-${joinedName(daemon)}`;

/** A task with its folder. */
export const daemonTask = (daemon: DaemonName): string => `\\Hivebar\\${daemonUnitName(daemon)}`;

const removedBy = (daemon: DaemonName): string => `\`hivebar daemon uninstall ${joinedName(daemon)}\` removes it.`;

const markedBy = (unit: DaemonUnit): string => `${markOf(unit.program)} ${removedBy(unit)}`;

/**
 * A unit of the user's systemd. Again after every death but a clean stop and 78, a configuration that would be the same
 * again. `RestartSteps=` needs systemd 254, so the pauses that grow are the program's own.
 */
export function daemonSystemdUnit(unit: DaemonUnit): string {
  const { program, tenant, identity } = unit;
  return `${[
    `# ${markedBy(unit)}`,
    '[Unit]',
    `Description=Persona daemon of ${identity} at ${tenant}, by Hivebar`,
    'StartLimitIntervalSec=300',
    'StartLimitBurst=10',
    '',
    '[Service]',
    'Type=simple',
    `ExecStart=${[quoted(program.node), ...[program.entry, ...runWords(unit)].map(argument)].join(' ')}`,
    ...environmentLines(program),
    'Restart=on-failure',
    'RestartSec=2',
    'RestartPreventExitStatus=78',
    'KillMode=mixed',
    'TimeoutStopSec=5',
    `RuntimeDirectory=${PREFIX}/${joinedName(unit)}`,
    'RuntimeDirectoryMode=0700',
    'UMask=0077',
    `SyslogIdentifier=${daemonUnitName(unit)}`,
    'NoNewPrivileges=yes',
    '',
    '[Install]',
    'WantedBy=default.target',
  ]
    .map(line)
    .join('\n')}\n`;
}

/**
 * A LaunchAgent (launchd.plist(5)). launchd restarts by success and failure alone: `--stays-down` makes 78 a success. `Umask`
 * is 0077 in decimal. From the file's documentation; not verified on a machine.
 */
export function daemonLaunchAgent(unit: DaemonUnit): string {
  const { program } = unit;
  return propertyList(markedBy(unit), [
    `  <key>Label</key><string>${daemonUnitName(unit)}</string>`,
    ...programArguments([program.node, program.entry, ...runWords(unit), STAYS_DOWN]),
    ...environmentVariables(program.environment),
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
export function daemonTaskKind(unit: DaemonUnit): TaskKind {
  return {
    words: [...runWords(unit), STAYS_DOWN],
    removedBy: removedBy(unit),
    restarts: 999,
    starts: 'node',
    delay: 'PT10S',
    startWhenAvailable: true,
    encoding: 'UTF-16',
  };
}

const STAYS_DOWN = '--stays-down';

/** All else it reads in its configuration; these say which one, and what it must agree with. */
function runWords({ tenant, identity, project }: DaemonUnit): readonly string[] {
  return ['daemon', 'run', '--tenant', tenant, '--identity', identity, '--project', project];
}
