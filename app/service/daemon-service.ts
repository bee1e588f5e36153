import { win32 } from 'node:path';
import { askDaemon, type DaemonName, type DaemonPlaces, PREFIX, toJoinedName } from '../../core/link/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { DaemonHandle } from './daemon-holder.node.ts';
import { enableLinger, findMissingStart } from './headless-service.ts';
import {
  checkTaskEnvironment,
  formatLogonTask,
  formatOwnerLine,
  requireSingleLine,
  type ServiceProgram,
  type TaskKind,
} from './login-entries.ts';
import {
  createLaunchdAgent,
  createScheduledTask,
  createSystemdService,
  formatEnvironmentLines,
  formatEnvironmentVariables,
  formatProgramArguments,
  formatPropertyList,
  putUnit,
  quoteArgument,
  quoteSystemdWord,
  readUnit,
  removeUnit,
  type SupervisedNeeds,
  type SupervisedUnit,
} from './supervised-unit.ts';

/** The state of the unit of a daemon. */
type DaemonUnitStatus =
  | { readonly is: 'absent' }
  /**
   * `gone` is what it starts and does not exist any more. `isOld` means that it is not what `install` would write, for example
   * because of another node, another copy of the program or another project.
   */
  | { readonly is: 'ours'; readonly path: string; readonly isOld: boolean; readonly gone: string | null }
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

/** One persona daemon under the launcher of the platform, for this user (persona daemon, contract 7). */
export interface DaemonService {
  check(): Promise<DaemonUnitStatus>;
  /** Writes the unit, or writes it again, and starts it. @throws Fault `unwritable`, `exec-failed`, `usage` for root by sudo */
  install(): Promise<void>;
  /** Writes a unit again if it starts something that is gone, and starts it. @returns what was gone @throws Fault as `install` */
  repair(): Promise<string | null>;
  /** Makes it continue after a logout. @throws Fault `exec-failed`, naming the command */
  enableLinger(): Promise<void>;
  /** Stops it and prevents its start at login. The unit stays. */
  pause(): Promise<void>;
  /** Stops it and removes the unit. The user's lingering is not changed. @throws Fault as `install` */
  uninstall(): Promise<void>;
  /** Returns whether the launcher runs it; null when that is not known, or there is no unit. */
  isRunning(): Promise<boolean | null>;
  /** Returns what `install` would write, and where. */
  print(): Promise<{ readonly path: string; readonly text: string }>;
}

type DaemonServiceNeeds = Omit<SupervisedNeeds, 'program'>;

/** @param directory the directory of the daemon's configuration */
export function createDaemonService(rest: DaemonServiceNeeds, daemon: DaemonUnit, directory: string): DaemonService {
  const needs: SupervisedNeeds = { ...rest, program: daemon.program };
  const unit = createUnit(needs, daemon, directory);
  const check = async (): Promise<DaemonUnitStatus> => {
    const file = readUnit(needs, unit.path);
    if (file.is === 'absent') return { is: 'absent' };
    if (file.is === 'foreign') return { is: 'foreign', path: unit.path, why: file.why };
    const gone = findMissingStart(needs.disk, file.text, needs.os);
    return { is: 'ours', path: unit.path, isOld: file.text !== (await unit.text()), gone };
  };
  return {
    check,
    async install() {
      refuseSudo(needs);
      await putUnit(needs, unit);
    },
    async repair() {
      const before = await check();
      if (before.is !== 'ours' || before.gone === null) return null;
      await putUnit(needs, unit);
      return before.gone;
    },
    enableLinger: () => enableLinger(needs),
    async pause() {
      if ((await check()).is === 'ours') await unit.pause();
    },
    uninstall: () => removeUnit(needs, unit),
    isRunning: async () => ((await check()).is === 'ours' ? await unit.isRunning() : null),
    print: async () => ({ path: unit.path, text: await unit.text() }),
  };
}

function createUnit(needs: SupervisedNeeds, daemon: DaemonUnit, directory: string): SupervisedUnit {
  switch (needs.os) {
    case 'darwin':
      return createLaunchdAgent(needs, formatDaemonUnitName(daemon), async () => formatDaemonLaunchAgent(daemon));
    case 'win32':
      return createScheduledTask(
        needs,
        formatDaemonTaskName(daemon),
        win32.join(directory, 'logon-task.xml'),
        async () => {
          checkTaskEnvironment(daemon.program);
          const user = `${needs.env.USERDOMAIN ?? '.'}\\${needs.env.USERNAME ?? ''}`;
          return formatLogonTask(daemon.program, user, createDaemonTaskKind(daemon));
        },
      );
    default:
      return createSystemdService(needs, `${formatDaemonUnitName(daemon)}.service`, async () =>
        formatDaemonSystemdUnit(daemon),
      );
  }
}

/**
 * Units are per user only: what sudo installs would belong to root, and not to the agent. Root who logged in as root is a user
 * like any other.
 */
function refuseSudo({ env, uid }: SupervisedNeeds): void {
  if (uid !== 0 || !env.SUDO_USER) return;
  const why = `a persona daemon belongs to a user, never to the system: run it as ${env.SUDO_USER}, without sudo`;
  throw new Fault('usage', why, { is: 'machine', key: 'daemon' });
}

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

/** How the daemon ended. `stayed` means that it did not end. */
export type DaemonEnd = 'was-gone' | 'asked' | 'terminated' | 'killed' | 'stayed';

/** The time that a daemon has for each step (persona daemon, contract 5). */
const PATIENCE = { askedMs: 5000, terminatedMs: 2000, killedMs: 2000 } as const;

/** A little less than its time, so that a daemon that needs all of it still ends by itself. */
const DEADLINE_MS = 4500;
const CHECK_EVERY_MS = 20;
const ASK_AGAIN_MS = 100;

/**
 * Ends a daemon: asks it, terminates it, kills it. Each step comes when the one before did not work in time.
 * @param reason what the daemon says to its upstream: `wrap`, `archive`, `destroy` or another reason
 */
export async function endDaemon(
  places: Pick<DaemonPlaces, 'socket' | 'token'>,
  reason: string,
  daemon: DaemonHandle,
  clock: Clock,
): Promise<DaemonEnd> {
  if (daemon.isGone()) return 'was-gone';
  const over = new AbortController();
  const asking = ask(places, reason, clock, over.signal);
  try {
    if (await isGoneWithin(PATIENCE.askedMs, daemon, clock)) return 'asked';
  } finally {
    over.abort();
    await asking;
  }
  daemon.signal('SIGTERM');
  if (await isGoneWithin(PATIENCE.terminatedMs, daemon, clock)) return 'terminated';
  daemon.signal('SIGKILL');
  return (await isGoneWithin(PATIENCE.killedMs, daemon, clock)) ? 'killed' : 'stayed';
}

/** Asks again while the daemon is just starting, and so has no socket yet. */
async function ask(
  places: Pick<DaemonPlaces, 'socket' | 'token'>,
  reason: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const request = { verb: 'shutdown', reason, deadlineMs: DEADLINE_MS } as const;
  while (!signal.aborted) {
    const { is } = await askDaemon(places, request, { timeoutMs: PATIENCE.askedMs, signal });
    if (is === 'answered') return;
    await clock.sleep(ASK_AGAIN_MS, signal);
  }
}

async function isGoneWithin(ms: number, daemon: DaemonHandle, clock: Clock): Promise<boolean> {
  const never = new AbortController().signal;
  for (const until = clock.monotonic() + ms; ; await clock.sleep(CHECK_EVERY_MS, never)) {
    if (daemon.isGone()) return true;
    if (clock.monotonic() >= until) return false;
  }
}
