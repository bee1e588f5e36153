import { posix } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  findProgramWith,
  O,
  type ProcessEnd,
  type Random,
  type Spawn,
  toSystem32Path,
} from '../../core/ports/index.ts';
import { type Disk, getErrno, toIoFault, writeAtomically } from '../../core/state/index.ts';
import {
  decodeText,
  encodeText,
  escapeXml,
  formatOwnerLine,
  formatXmlComment,
  OWNER_LINE_START,
  REMOVED_BY,
  requireSingleLine,
  type ServiceProgram,
} from './login-entries.ts';

export interface SupervisedNeeds extends UnitNeeds {
  /** Null where the platform has no user ids. */
  readonly uid: number | null;
}

/** A unit that is started when it is written, and is kept running from then on. */
export interface SupervisedUnit extends Unit {
  /** Stops it, and prevents its start at login until it is written again. The unit stays. Does nothing when there is no unit. */
  pause(): Promise<void>;
  /** Returns whether the supervisor runs it now; null when that is not known. */
  isRunning(): Promise<boolean | null>;
}

/** systemctl(1): no unit of that name is loaded, so none runs. */
const NOT_LOADED = 5;

/** Creates a unit of the user's systemd. @param name with its `.service` */
export function createSystemdService(needs: SupervisedNeeds, name: string, text: Unit['text']): SupervisedUnit {
  const folder = posix.join(resolveConfigHome(needs), 'systemd/user');
  const systemctl = (...args: string[]): string[] => ['systemctl', '--user', ...args];
  async function afterRemove(): Promise<void> {
    unlink(needs.disk, posix.join(folder, 'default.target.wants', name));
    await runBestEffort(needs, systemctl('stop', name), [NOT_LOADED]);
    await runBestEffort(needs, systemctl('daemon-reload'));
    await runToEnd(needs, systemctl('reset-failed', name)); // else a failed unit is still listed, without its file
  }
  return {
    path: posix.join(folder, name),
    text,
    async afterWrite(isNew) {
      await runOrThrow(needs, systemctl('daemon-reload'));
      await runOrThrow(needs, systemctl('reenable', name));
      await runOrUndo(isNew ? afterRemove : null, () => runOrThrow(needs, systemctl('restart', name)));
    },
    afterRemove,
    async pause() {
      await runBestEffort(needs, systemctl('disable', name));
      await runBestEffort(needs, systemctl('stop', name));
    },
    isRunning: () => isSuccessful(needs, systemctl('is-active', '--quiet', name)),
  };
}

/** Creates an agent of launchd, in the user's session. */
export function createLaunchdAgent(needs: SupervisedNeeds, label: string, text: Unit['text']): SupervisedUnit {
  const path = posix.join(needs.home, `Library/LaunchAgents/${label}.plist`);
  const domain = `gui/${needs.uid ?? 0}`;
  const target = `${domain}/${label}`;
  return {
    path,
    text,
    async afterWrite() {
      await runToEnd(needs, ['launchctl', 'bootout', target]); // an older one, if there is one
      await runToEnd(needs, ['launchctl', 'enable', target]); // a disabled agent cannot be loaded
      await runOrThrow(needs, ['launchctl', 'bootstrap', domain, path]);
    },
    afterRemove: () => runBestEffort(needs, ['launchctl', 'bootout', target]),
    async pause() {
      await runBestEffort(needs, ['launchctl', 'disable', target]); // otherwise its file is read at the next login
      await runBestEffort(needs, ['launchctl', 'bootout', target]);
    },
    isRunning: () => isSuccessful(needs, ['launchctl', 'print', target]),
  };
}

/**
 * Creates a task of the Task Scheduler, which has its own copy. Our copy at `path` shows that the task is ours.
 * @param task its whole name, with folders
 */
export function createScheduledTask(
  needs: SupervisedNeeds,
  task: string,
  path: string,
  text: Unit['text'],
): SupervisedUnit {
  const tasks = (...args: string[]): string[] => ['schtasks.exe', ...args];
  return {
    path,
    text,
    async afterWrite(isNew) {
      await runOrThrow(needs, tasks('/Create', '/TN', task, '/XML', path, ...(isNew ? [] : ['/F'])));
      const undo = (): Promise<void> => deleteTask(needs, task); // what was created is ours
      await runOrUndo(isNew ? undo : null, () => runOrThrow(needs, tasks('/Run', '/TN', task)));
    },
    async afterRemove() {
      await runBestEffort(needs, tasks('/End', '/TN', task));
      await deleteTask(needs, task);
    },
    async pause() {
      await runBestEffort(needs, tasks('/Change', '/TN', task, '/DISABLE'));
      await runBestEffort(needs, tasks('/End', '/TN', task));
    },
    // The scheduler reports the state of a task in the language of the system. Only a missing task can be recognized.
    isRunning: async () => ((await isTaskDeleted(needs, task)) ? false : null),
  };
}

/** Runs `step` and, when it fails, undoes the steps before it. @throws as `step` */
async function runOrUndo(undo: (() => Promise<void>) | null, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    await undo?.();
    throw error;
  }
}

/**
 * Runs a command whose failure is only logged. What is done already stays, and a supervisor that missed the command follows at
 * its next start.
 * @param fine further exit codes that mean no failure
 */
async function runBestEffort(
  needs: UnitNeeds,
  command: readonly string[],
  fine: readonly number[] = [],
): Promise<void> {
  const ended = await runToEnd(needs, command);
  if (ended.is === 'exited' && [0, ...fine].includes(ended.code)) return;
  const why = ended.is === 'exited' ? `ended with ${ended.code}: ${ended.stderr.trim()}` : ended.is;
  needs.disk.log.info(`${command.join(' ')}: ${why}: what already runs may continue`);
}

async function isSuccessful(needs: UnitNeeds, command: readonly string[]): Promise<boolean | null> {
  const ended = await runToEnd(needs, command);
  return ended.is === 'exited' ? ended.code === 0 : null;
}

/** Does nothing for a task that somebody deleted by hand. @throws Fault `exec-failed` while the task exists */
export async function deleteTask(needs: UnitNeeds, name: string): Promise<void> {
  try {
    await runOrThrow(needs, ['schtasks.exe', '/Delete', '/TN', name, '/F']);
  } catch (error) {
    if (!(await isTaskDeleted(needs, name))) throw error;
  }
}

/** Returns whether the Task Scheduler has no such task. False when it cannot be asked. */
export async function isTaskDeleted(needs: UnitNeeds, name: string): Promise<boolean> {
  const queryEnd = await runToEnd(needs, ['schtasks.exe', '/Query', '/TN', name]);
  return queryEnd.is === 'exited' && queryEnd.code !== 0;
}

/** What a service needs of the machine. */
export interface UnitNeeds {
  readonly os: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly disk: Disk;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly program: ServiceProgram;
}

/** A file that starts us, and the calls that make the system read it. */
export interface Unit {
  readonly path: string;
  /** @throws Fault when it cannot be written for this program */
  text(): Promise<string>;
  /** Makes the system read the unit. If that fails for a new unit, nothing of it stays. @throws Fault `exec-failed` */
  afterWrite(isNew: boolean): Promise<void>;
  afterRemove(): Promise<void>;
}

/** What has the unit's name: nothing, a file of ours, or a file that this Hivebar did not write. */
export type UnitFileState =
  | { readonly is: 'absent' }
  | { readonly is: 'ours'; readonly text: string }
  | { readonly is: 'foreign'; readonly why: string };

const LOGIN = { is: 'machine', key: 'login' } as const;
const COMMAND_MS = 10_000;
const MOST_BYTES = 64 * 1024;

/** Writes the unit, or writes it again. @throws Fault `unwritable`, also for a foreign file; `exec-failed` */
export async function putUnit(needs: UnitNeeds, unit: Unit): Promise<void> {
  const file = readUnit(needs, unit.path);
  if (file.is === 'foreign') throw createForeignFault(unit.path, file.why);
  const isNew = file.is === 'absent';
  writeAtomically(needs.disk, needs.random, unit.path, encodeText(await unit.text()));
  try {
    await unit.afterWrite(isNew);
  } catch (error) {
    if (isNew) unlink(needs.disk, unit.path); // a half-installed unit would look complete
    throw error;
  }
}

/** Does nothing when there is no unit. If the system keeps the unit, its file stays. @throws Fault as `putUnit` */
export async function removeUnit(needs: UnitNeeds, unit: Unit): Promise<void> {
  const file = readUnit(needs, unit.path);
  if (file.is === 'absent') return;
  if (file.is === 'foreign') throw createForeignFault(unit.path, file.why);
  unlink(needs.disk, unit.path);
  try {
    await unit.afterRemove();
  } catch (error) {
    writeAtomically(needs.disk, needs.random, unit.path, encodeText(file.text)); // without it we would not know that the rest is ours
    throw error;
  }
}

/** By the base directory specification a relative value is ignored. */
export function resolveConfigHome({ env, home }: Pick<UnitNeeds, 'env' | 'home'>): string {
  const configHome = env.XDG_CONFIG_HOME;
  return configHome?.startsWith('/') ? configHome : posix.join(home, '.config');
}

/** By the base directory specification a relative value is ignored. */
export function resolveDataHome({ env, home }: Pick<UnitNeeds, 'env' | 'home'>): string {
  const dataHome = env.XDG_DATA_HOME;
  return dataHome?.startsWith('/') ? dataHome : posix.join(home, '.local/share');
}

/** @throws Fault `unreadable` */
export function readUnit(
  { disk: { files }, program }: Pick<UnitNeeds, 'disk' | 'program'>,
  path: string,
): UnitFileState {
  try {
    const stat = files.lstat(path);
    if (stat === null) return { is: 'absent' };
    if (stat.kind !== 'file') return { is: 'foreign', why: `is not a regular file but a ${stat.kind}` };
    const fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
    try {
      const bytes = new Uint8Array(Math.min(stat.size, MOST_BYTES));
      const text = decodeText(bytes.subarray(0, files.read(fd, bytes, 0)));
      if (text.includes(formatOwnerLine(program))) return { is: 'ours', text };
      const other = text.includes(OWNER_LINE_START)
        ? 'starts the Hivebar of another HIVEBAR_HOME'
        : 'was not written by Hivebar';
      return { is: 'foreign', why: other };
    } finally {
      files.close(fd);
    }
  } catch (error) {
    if (getErrno(error) === 'ENOENT' || getErrno(error) === 'ENOTDIR') return { is: 'absent' };
    throw toIoFault(error, path, 'unreadable');
  }
}

export function unlink({ files }: Disk, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
  }
}

function createForeignFault(path: string, why: string): Fault {
  return new Fault('unwritable', `${path} ${why}, and is left as it is`, LOGIN);
}

/** Runs a program of PATH. @throws Fault `exec-failed` */
export async function runOrThrow(needs: UnitNeeds, command: readonly string[]): Promise<void> {
  const ended = await runToEnd(needs, command);
  if (ended.is === 'exited' && ended.code === 0) return;
  const why = ended.is === 'exited' ? `ended with ${ended.code}: ${ended.stderr.trim()}` : ended.is;
  throw new Fault('exec-failed', `${command.join(' ')}: ${why}`, LOGIN);
}

/** Runs a program of PATH to its end. A program in the current folder is never used. */
export async function runToEnd(
  { disk, env, os, spawn }: UnitNeeds,
  [name = '', ...args]: readonly string[],
): Promise<ProcessEnd> {
  const isThere = (file: string): boolean => disk.files.lstat(file) !== null;
  // Programs of Windows are run from the folder of Windows, whatever PATH says.
  const system = os === 'win32' ? toSystem32Path(name, env) : null;
  const file = system === null ? findProgramWith(isThere, name, env, os) : isThere(system) ? system : null;
  if (file === null) return { is: 'not-started', why: `no ${name} on PATH` } as const;
  const definedEnv = Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  return await spawn.run({ file, args, env: definedEnv, timeoutMs: COMMAND_MS }, new AbortController().signal);
}

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

/** Formats a property list of one dictionary for launchd (launchd.plist(5)). */
export function formatPropertyList(comment: string, entries: readonly string[]): string {
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    formatXmlComment(comment),
    '<plist version="1.0">',
    '<dict>',
    ...entries,
    '</dict>',
    '</plist>',
  ].join('\n')}\n`;
}

export function formatProgramArguments(words: readonly string[]): readonly string[] {
  const strings = words.map((word) => `    <string>${escapeXml(word)}</string>`);
  return ['  <key>ProgramArguments</key>', '  <array>', ...strings, '  </array>'];
}

/** Returns no entry when there are no variables. */
export function formatEnvironmentVariables(environment: Readonly<Record<string, string>>): readonly string[] {
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${escapeXml(name)}</key><string>${escapeXml(value)}</string>`,
  );
  return variables.length === 0 ? [] : ['  <key>EnvironmentVariables</key>', '  <dict>', ...variables, '  </dict>'];
}

export const LAUNCH_AGENT = 'hivebar';
/** Its earlier name. A file of ours with that name is removed. */
export const OLDER_LAUNCH_AGENT = 'local.hivebar';

/**
 * Formats a LaunchAgent of macOS (launchd.plist(5)). It runs in desktop sessions only, and is started again when it fails, at
 * most once per minute. From the file's documentation; not verified on a machine.
 */
export function formatLaunchAgent(program: ServiceProgram): string {
  return formatPropertyList(`${formatOwnerLine(program)} ${REMOVED_BY}`, [
    `  <key>Label</key><string>${LAUNCH_AGENT}</string>`,
    ...formatProgramArguments([program.node, program.entry, 'run']),
    ...formatEnvironmentVariables(program.environment),
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>60</integer>',
    '  <key>LimitLoadToSessionType</key><string>Aqua</string>',
    '  <key>ProcessType</key><string>Interactive</string>',
  ]);
}
