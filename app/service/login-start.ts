import { posix, win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { autostartEntry, execLine, isEnabledEntry } from './autostart-entry.ts';
import { deleteTask, isTaskDeleted } from './delete-task.ts';
import { headlessUnitAt } from './headless.ts';
import { LAUNCH_AGENT, launchAgent, OLDER_LAUNCH_AGENT } from './launch-agent.ts';
import { checkTaskEnvironment, LOGON_TASK, logonTask } from './logon-task.ts';
import { findGone } from './starts.ts';
import { systemdUnit, type Target } from './systemd-unit.ts';
import {
  configOf,
  end,
  type Present,
  putUnit,
  readUnit,
  removeUnit,
  run,
  type Unit,
  type UnitNeeds,
  unlink,
} from './unit-file.ts';

export type LoginNeeds = UnitNeeds;

type Mechanism = 'systemd' | 'autostart' | 'launch-agent' | 'logon-task';

/** What is there of start at login. */
export type LoginLook =
  | {
      readonly is: 'on';
      readonly by: Mechanism;
      readonly path: string;
      /** Not what `set(true)` would leave: for another node or another copy of the program, or of an older Hivebar. */
      readonly isOld: boolean;
      /** What it starts and is not there any more, so that nothing starts at login; null: all of it is. */
      readonly gone: string | null;
    }
  /** `path`: ours is there and switched off, for example in the settings of the desktop. `why`: where, when that is known. */
  | { readonly is: 'off'; readonly path: string | null; readonly why?: string }
  /** A file of that name that this Hivebar did not write. It is left alone. */
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

export interface LoginStart {
  /** Null: it can not be told, because a file of somebody else has the name. */
  state(): Promise<boolean | null>;
  /**
   * Switches it on or off for the next login; what runs now goes on. On when it is on writes it anew, with the paths of now.
   * @throws Fault `usage` for on while the headless service is there: two would tell everything twice; `unwritable`, also for a file of that name that is not ours; `exec-failed` for systemctl or schtasks
   */
  set(on: boolean): Promise<void>;
  look(): Promise<LoginLook>;
  /** Writes anew what starts something that is gone, as `set(true)` does. @returns how it was before @throws Fault as `set` */
  repair(): Promise<LoginLook>;
  /** What would have to be there for the entry to start anything; null: it is there. A container has neither of the two. */
  missing(): Promise<string | null>;
  /** What `set(true)` would write, and where. Writes nothing. @throws Fault `unwritable` */
  print(): Promise<Printed>;
}

export interface Printed {
  readonly path: string;
  readonly text: string;
}

/** A unit that may be one of several of its platform. */
interface Way extends Unit {
  readonly by: Mechanism;
  /** Where an older Hivebar wrote the same. */
  readonly older: readonly string[];
  /** Of a file of ours. */
  isOn(text: string): boolean;
  /** Why a file that is on starts nothing, because somebody switched it off elsewhere; null: it does. */
  offElsewhere?(): Promise<string | null>;
  /** It starts this very program. */
  isCurrent(text: string): boolean;
}

type Ours = Extract<Present, { is: 'ours' }>;

interface Found {
  readonly way: Way;
  /** The path of the way, or an older one. */
  readonly path: string;
  readonly file: Exclude<Present, { is: 'absent' }>;
  /** Ours is there under an older name. */
  readonly hasOlder: boolean;
}

const UNIT = 'hivebar.service';
const TARGETS: readonly Target[] = ['graphical-session.target', 'default.target'];
/** systemctl(1): the unit is not active. Anything else but 0 means that there is no user's systemd to ask. */
const INACTIVE = 3;

/**
 * Start at login with the platform's own means: systemd's user units or XDG autostart, LaunchAgents, the Task Scheduler.
 * Exactly one of them: what is installed stays, else it is chosen when it is switched on.
 */
export function createLoginStart(needs: LoginNeeds): LoginStart {
  const ways = waysOf(needs);

  /** What is there under our names, the first that is anything at all; under an older name only what is ours. */
  function found(): Found | null {
    for (const way of ways) {
      const file = readUnit(needs, way.path);
      const [older = null] = olderOf(way);
      if (file.is !== 'absent') return { way, path: way.path, file, hasOlder: older !== null };
      if (older !== null) return { way, ...older, hasOlder: true };
    }
    return null;
  }

  function olderOf(way: Way): readonly { readonly path: string; readonly file: Ours }[] {
    return way.older.flatMap((path) => {
      const file = readUnit(needs, path);
      return file.is === 'ours' ? [{ path, file }] : [];
    });
  }

  async function look(): Promise<LoginLook> {
    const there = found();
    if (there === null) return { is: 'off', path: null };
    const { way, path, file, hasOlder } = there;
    if (file.is === 'foreign') return { is: 'foreign', path, why: file.why };
    if (!way.isOn(file.text)) return { is: 'off', path };
    const why = (await way.offElsewhere?.()) ?? null;
    if (why !== null) return { is: 'off', path, why };
    const gone = findGone(needs.disk, file.text, needs.os);
    return { is: 'on', by: way.by, path, isOld: hasOlder || !way.isCurrent(file.text), gone };
  }

  async function chosenNow(): Promise<Way> {
    return found()?.way ?? (await chosen(needs, ways));
  }

  async function remove(): Promise<void> {
    removeOlder();
    for (const way of ways) await removeUnit(needs, way);
  }

  function removeOlder(): void {
    for (const { path } of ways.flatMap(olderOf)) unlink(needs.disk, path);
  }

  async function set(on: boolean): Promise<void> {
    if (!on) return await remove();
    const other = headlessUnitAt(needs);
    if (other !== null) throw new Fault('usage', TRAY_REFUSED(other), LOGIN);
    await putUnit(needs, await chosenNow());
    removeOlder(); // not before: what can not be written leaves what was there
  }

  return {
    look,
    set,
    async repair() {
      const before = await look();
      if (before.is === 'on' && before.gone !== null) await set(true);
      return before;
    },
    async missing() {
      if ((await chosenNow()).by !== 'autostart' || hasDesktop(needs)) return null;
      return 'no systemd of this user answers (systemctl --user), and no desktop is installed that reads autostart files';
    },
    async state() {
      const { is } = await look();
      return is === 'foreign' ? null : is === 'on';
    },
    async print() {
      const way = await chosenNow();
      return { path: way.path, text: await way.text() };
    },
  };
}

const TRAY_REFUSED = (path: string): string =>
  `the headless service is installed (${path}), and every mail would be told twice; run \`hivebar service uninstall --headless\` first`;

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

/** A desktop that runs now, or one that is installed: this may be asked over SSH. */
function hasDesktop({ env, disk }: LoginNeeds): boolean {
  if (env.DISPLAY || env.WAYLAND_DISPLAY || env.XDG_CURRENT_DESKTOP) return true;
  return SESSIONS.some((folder) => disk.files.lstat(folder) !== null);
}

const SESSIONS = ['/usr/share/xsessions', '/usr/share/wayland-sessions'];

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
    older: [],
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
    older: [],
    path: posix.join(configOf(needs), 'autostart/hivebar.desktop'),
    text: async () => autostartEntry(needs.program),
    isOn: isEnabledEntry,
    isCurrent: (text) => text.includes(`\n${execLine(needs.program)}\n`),
    ...NOBODY_TOLD,
  };
}

/** launchd reads the folder at each login. To load or unload it now would start a second Hivebar, or end this one. */
function launchAgentWay({ home, program }: LoginNeeds): Way {
  const plist = (label: string): string => posix.join(home, `Library/LaunchAgents/${label}.plist`);
  return {
    by: 'launch-agent',
    path: plist(LAUNCH_AGENT),
    older: [plist(OLDER_LAUNCH_AGENT)],
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
    older: [],
    path,
    async text() {
      checkTaskEnvironment(program);
      return text();
    },
    isOn: () => true,
    offElsewhere: async () =>
      (await isTaskDeleted(needs, LOGON_TASK)) ? `the task ${LOGON_TASK} is not in the Task Scheduler any more` : null,
    isCurrent: (found) => found === text(),
    // Without /F it refuses to overwrite: a task whose text we do not have is not ours.
    written: (isNew) =>
      run(needs, ['schtasks.exe', '/Create', '/TN', LOGON_TASK, '/XML', path, ...(isNew ? [] : ['/F'])]),
    removed: () => deleteTask(needs, LOGON_TASK),
  };
}

const NOBODY_TOLD = { written: async () => {}, removed: async () => {} } as const;
const LOGIN = { is: 'machine', key: 'login' } as const;
