import { posix, win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { O, type Random, type Spawn } from '../../core/ports/index.ts';
import { type Disk, errnoOf, ioFault, writeAtomically } from '../../core/state/index.ts';
import { autostartEntry, execLine, isEnabledEntry } from './autostart-entry.ts';
import { LAUNCH_AGENT, launchAgent } from './launch-agent.ts';
import { LOGON_TASK, logonTask } from './logon-task.ts';
import { ANY_MARK, markOf, type Program } from './program.ts';
import { systemdUnit, type Target } from './systemd-unit.ts';

export interface LoginNeeds {
  readonly os: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly disk: Disk;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly program: Program;
}

type Mechanism = 'systemd' | 'autostart' | 'launch-agent' | 'logon-task';

/** What is there of start at login. */
export type LoginLook =
  | {
      readonly is: 'on';
      readonly by: Mechanism;
      readonly path: string;
      /** It would start another node or another copy of the program than this one. */
      readonly isOld: boolean;
    }
  /** `path`: ours is there and switched off, for example in the settings of the desktop. */
  | { readonly is: 'off'; readonly path: string | null }
  /** A file of that name that this Hivebar did not write. It is left alone. */
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

export interface LoginStart {
  /** Null: it can not be told, because a file of somebody else has the name. */
  state(): Promise<boolean | null>;
  /**
   * Switches it on or off for the next login; what runs now goes on. On when it is on writes it anew, with the paths of now.
   * @throws Fault `unwritable`, also for a file of that name that is not ours; `exec-failed` for systemctl or schtasks
   */
  set(on: boolean): Promise<void>;
  look(): Promise<LoginLook>;
}

/** One file that starts us, and who has to be told of it. */
interface Way {
  readonly by: Mechanism;
  readonly path: string;
  /** @throws Fault when it can not be written for this program */
  text(): Promise<string>;
  /** Of a file of ours. */
  isOn(text: string): boolean;
  /** It starts this very program. */
  isCurrent(text: string): boolean;
  /** Tells whom it concerns. @throws Fault `exec-failed` */
  written(isNew: boolean): Promise<void>;
  removed(): Promise<void>;
}

const UNIT = 'hivebar.service';
const TARGETS: readonly Target[] = ['graphical-session.target', 'default.target'];
const COMMAND_MS = 10_000;
/** systemctl(1): the unit is not active. Anything else but 0 means that there is no user's systemd to ask. */
const INACTIVE = 3;
const MOST_BYTES = 64 * 1024;

/**
 * Start at login with the platform's own means: systemd's user units or XDG autostart, LaunchAgents, the Task Scheduler.
 * Exactly one of them: what is installed stays, else it is chosen when it is switched on.
 */
export function createLoginStart(needs: LoginNeeds): LoginStart {
  const { disk, random } = needs;
  const ways = waysOf(needs);

  /** What is there under our names, the first that is anything at all. */
  function found(): { readonly way: Way; readonly file: Present } | null {
    for (const way of ways) {
      const file = read(needs, way.path);
      if (file.is !== 'absent') return { way, file };
    }
    return null;
  }

  async function look(): Promise<LoginLook> {
    const there = found();
    if (there === null) return { is: 'off', path: null };
    const { way, file } = there;
    if (file.is === 'foreign') return { is: 'foreign', path: way.path, why: file.why };
    if (!way.isOn(file.text)) return { is: 'off', path: way.path };
    return { is: 'on', by: way.by, path: way.path, isOld: !way.isCurrent(file.text) };
  }

  async function put(): Promise<void> {
    const there = found();
    const way = there?.way ?? (await chosen(needs, ways));
    if (there?.file.is === 'foreign') throw foreign(way.path, there.file.why);
    writeAtomically(disk, random, way.path, await way.text());
    try {
      await way.written(there === null);
    } catch (error) {
      if (there === null) unlink(disk, way.path); // half of it would look like all of it
      throw error;
    }
  }

  async function remove(): Promise<void> {
    for (const way of ways) {
      const file = read(needs, way.path);
      if (file.is === 'absent') continue;
      if (file.is === 'foreign') throw foreign(way.path, file.why);
      unlink(disk, way.path);
      await way.removed();
    }
  }

  return {
    look,
    async state() {
      const { is } = await look();
      return is === 'foreign' ? null : is === 'on';
    },
    set: (on) => (on ? put() : remove()),
  };
}

/** All ways of a platform, the preferred one first. */
function waysOf(needs: LoginNeeds): readonly Way[] {
  switch (needs.os) {
    case 'darwin':
      return [launchAgentWay(needs)];
    case 'win32':
      return [logonTaskWay(needs)];
    default:
      return [systemdWay(needs), autostartWay(needs)];
  }
}

/**
 * systemd, where it starts with the desktop session or there is no desktop. A session that never reaches
 * `graphical-session.target` (many small desktops) would never pull our unit in, and reads autostart files.
 */
async function chosen(needs: LoginNeeds, ways: readonly Way[]): Promise<Way> {
  const [first, second] = ways;
  if (first === undefined) throw new Error('no platform is without a way');
  if (second === undefined) return first;
  return (await targetOf(needs)) === null ? second : first;
}

/** Null: systemd is not the way here. */
async function targetOf(needs: LoginNeeds): Promise<Target | null> {
  const asked = ['systemctl', '--user', 'is-active', '--quiet', 'graphical-session.target'];
  const ended = await end(needs, asked);
  if (ended.is !== 'exited') return null;
  if (ended.code === 0) return 'graphical-session.target';
  const hasDisplay = Boolean(needs.env.DISPLAY || needs.env.WAYLAND_DISPLAY);
  return ended.code === INACTIVE && !hasDisplay ? 'default.target' : null;
}

function systemdWay(needs: LoginNeeds): Way {
  const folder = posix.join(configOf(needs), 'systemd/user');
  return {
    by: 'systemd',
    path: posix.join(folder, UNIT),
    // A unit of ours that is there already goes on with its target: this may be asked over SSH.
    text: async () => systemdUnit(needs.program, (await targetOf(needs)) ?? wantedBy(needs, folder)),
    isOn: () => TARGETS.some((target) => isWanted(needs, folder, target)),
    isCurrent: (text) => TARGETS.some((target) => text === systemdUnit(needs.program, target)),
    async written() {
      await run(needs, ['systemctl', '--user', 'daemon-reload']);
      await run(needs, ['systemctl', '--user', 'reenable', UNIT]);
    },
    async removed() {
      for (const target of TARGETS) unlink(needs.disk, wants(folder, target));
      const ended = await end(needs, ['systemctl', '--user', 'daemon-reload']);
      if (ended.is !== 'exited' || ended.code !== 0)
        needs.disk.log.info('no systemd of this user to tell: it reads its units when it starts');
    },
  };
}

const wants = (folder: string, target: Target): string => posix.join(folder, `${target}.wants`, UNIT);

/** Enabled is a symlink that systemctl makes; it is looked at without asking anybody. */
function isWanted({ disk }: LoginNeeds, folder: string, target: Target): boolean {
  return disk.files.lstat(wants(folder, target)) !== null;
}

function wantedBy(needs: LoginNeeds, folder: string): Target {
  return TARGETS.find((target) => isWanted(needs, folder, target)) ?? 'graphical-session.target';
}

function autostartWay(needs: LoginNeeds): Way {
  return {
    by: 'autostart',
    path: posix.join(configOf(needs), 'autostart/hivebar.desktop'),
    text: async () => autostartEntry(needs.program),
    isOn: isEnabledEntry,
    isCurrent: (text) => text.includes(`\n${execLine(needs.program)}\n`),
    ...NOBODY_TOLD,
  };
}

/** launchd reads the folder at each login. To load or unload it now would start a second Hivebar, or end this one. */
function launchAgentWay({ home, program }: LoginNeeds): Way {
  return {
    by: 'launch-agent',
    path: posix.join(home, `Library/LaunchAgents/${LAUNCH_AGENT}.plist`),
    text: async () => launchAgent(program),
    isOn: () => true,
    isCurrent: (text) => text === launchAgent(program),
    ...NOBODY_TOLD,
  };
}

/** The Task Scheduler keeps its own copy; by ours beside the state we know that the task is ours. */
function logonTaskWay(needs: LoginNeeds): Way {
  const { env, program } = needs;
  const path = win32.join(program.state, 'logon-task.xml');
  const text = (): string => logonTask(program, `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`);
  return {
    by: 'logon-task',
    path,
    async text() {
      if (Object.keys(program.environment).length === 0) return text();
      const why =
        'a task can not carry HIVEBAR_HOME: set it for the whole account (setx), and start Hivebar without it';
      throw new Fault('unwritable', why, LOGIN);
    },
    isOn: () => true,
    isCurrent: (found) => found === text(),
    // Without /F it refuses to overwrite: a task whose text we do not have is not ours.
    written: (isNew) =>
      run(needs, ['schtasks.exe', '/Create', '/TN', LOGON_TASK, '/XML', path, ...(isNew ? [] : ['/F'])]),
    removed: () => run(needs, ['schtasks.exe', '/Delete', '/TN', LOGON_TASK, '/F']),
  };
}

const NOBODY_TOLD = { written: async () => {}, removed: async () => {} } as const;
const LOGIN = { is: 'machine', key: 'login' } as const;

/** The base directory specification: a relative value is to be ignored. */
function configOf({ env, home }: LoginNeeds): string {
  const given = env.XDG_CONFIG_HOME;
  return given?.startsWith('/') ? given : posix.join(home, '.config');
}

type Present = { readonly is: 'ours'; readonly text: string } | { readonly is: 'foreign'; readonly why: string };

function read({ disk: { files }, program }: LoginNeeds, path: string): Present | { readonly is: 'absent' } {
  try {
    const stat = files.lstat(path);
    if (stat === null) return { is: 'absent' };
    if (stat.kind !== 'file') return { is: 'foreign', why: `is no plain file but a ${stat.kind}` };
    const fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
    try {
      const bytes = new Uint8Array(Math.min(stat.size, MOST_BYTES));
      const text = new TextDecoder().decode(bytes.subarray(0, files.read(fd, bytes, 0)));
      if (text.includes(markOf(program))) return { is: 'ours', text };
      const other = text.includes(ANY_MARK)
        ? 'starts the Hivebar of another HIVEBAR_HOME'
        : 'was not written by Hivebar';
      return { is: 'foreign', why: other };
    } finally {
      files.close(fd);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return { is: 'absent' };
    throw ioFault(error, path, 'unreadable');
  }
}

function unlink({ files }: Disk, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw ioFault(error, path, 'unwritable');
  }
}

function foreign(path: string, why: string): Fault {
  return new Fault('unwritable', `${path} ${why}, and is left as it is`, LOGIN);
}

async function run(needs: LoginNeeds, command: readonly string[]): Promise<void> {
  const ended = await end(needs, command);
  if (ended.is === 'exited' && ended.code === 0) return;
  const why = ended.is === 'exited' ? `ended with ${ended.code}: ${ended.stderr.trim()}` : ended.is;
  throw new Fault('exec-failed', `${command.join(' ')}: ${why}`, LOGIN);
}

async function end({ disk, env, os, spawn }: LoginNeeds, [name = '', ...args]: readonly string[]) {
  const path = os === 'win32' ? win32 : posix;
  const folders =
    os === 'win32' ? [win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32')] : (env.PATH ?? '').split(':');
  const file = folders
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find((candidate) => disk.files.lstat(candidate) !== null);
  if (file === undefined) return { is: 'not-started', why: `no ${name} on PATH` } as const;
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  return await spawn.run({ file, args, env: given, timeoutMs: COMMAND_MS }, new AbortController().signal);
}
