import { posix, win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { formatAutostartEntry, formatExecLine, isEnabledEntry } from './autostart-entry.ts';
import { deleteTask, isTaskDeleted } from './delete-task.ts';
import { findHeadlessUnit } from './headless-service.ts';
import { formatLaunchAgent, LAUNCH_AGENT, OLDER_LAUNCH_AGENT } from './launch-agent.ts';
import { checkTaskEnvironment, formatLogonTask, LOGON_TASK } from './logon-task.ts';
import { findMissingStart } from './start-paths.ts';
import { formatSystemdUnit, type SystemdTarget } from './systemd-unit.ts';
import {
  putUnit,
  readUnit,
  removeUnit,
  resolveConfigHome,
  runOrThrow,
  runToEnd,
  type Unit,
  type UnitFileState,
  type UnitNeeds,
  unlink,
} from './unit-file.ts';

export type LoginNeeds = UnitNeeds;

type Mechanism = 'systemd' | 'autostart' | 'launch-agent' | 'logon-task';

/** What is there of start at login. */
export type LoginStartStatus =
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
  /** Null: it cannot be told, because a file of somebody else has the name. */
  state(): Promise<boolean | null>;
  /**
   * Switches it on or off for the next login; what runs now goes on. On when it is on writes it anew, with the paths of now.
   * @throws Fault `usage` for on while the headless service is there: two would tell everything twice; `unwritable`, also for a file of that name that is not ours; `exec-failed` for systemctl or schtasks
   */
  set(on: boolean): Promise<void>;
  check(): Promise<LoginStartStatus>;
  /** Writes anew what starts something that is gone, as `set(true)` does. @returns how it was before @throws Fault as `set` */
  repair(): Promise<LoginStartStatus>;
  /** What would have to be there for the entry to start anything; null: it is there. A container has neither of the two. */
  missing(): Promise<string | null>;
  /** What `set(true)` would write, and where. Writes nothing. @throws Fault `unwritable` */
  print(): Promise<UnitText>;
}

export interface UnitText {
  readonly path: string;
  readonly text: string;
}

/** A unit that may be one of several of its platform. */
interface LoginWay extends Unit {
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

type OwnUnitFile = Extract<UnitFileState, { is: 'ours' }>;

interface InstalledWay {
  readonly way: LoginWay;
  /** The path of the way, or an older one. */
  readonly path: string;
  readonly file: Exclude<UnitFileState, { is: 'absent' }>;
  /** Ours is there under an older name. */
  readonly hasOlder: boolean;
}

const UNIT = 'hivebar.service';
const TARGETS: readonly SystemdTarget[] = ['graphical-session.target', 'default.target'];
/** systemctl(1): the unit is not active. Anything else but 0 means that there is no user's systemd to ask. */
const INACTIVE = 3;

/**
 * Start at login with the platform's own means: systemd's user units or XDG autostart, LaunchAgents, the Task Scheduler.
 * Exactly one of them: what is installed stays, else it is chosen when it is switched on.
 */
export function createLoginStart(needs: LoginNeeds): LoginStart {
  const ways = listWays(needs);

  /** What is there under our names, the first that is anything at all; under an older name only what is ours. */
  function findInstalled(): InstalledWay | null {
    for (const way of ways) {
      const file = readUnit(needs, way.path);
      const [older = null] = findOlder(way);
      if (file.is !== 'absent') return { way, path: way.path, file, hasOlder: older !== null };
      if (older !== null) return { way, ...older, hasOlder: true };
    }
    return null;
  }

  function findOlder(way: LoginWay): readonly { readonly path: string; readonly file: OwnUnitFile }[] {
    return way.older.flatMap((path) => {
      const file = readUnit(needs, path);
      return file.is === 'ours' ? [{ path, file }] : [];
    });
  }

  async function check(): Promise<LoginStartStatus> {
    const installed = findInstalled();
    if (installed === null) return { is: 'off', path: null };
    const { way, path, file, hasOlder } = installed;
    if (file.is === 'foreign') return { is: 'foreign', path, why: file.why };
    if (!way.isOn(file.text)) return { is: 'off', path };
    const why = (await way.offElsewhere?.()) ?? null;
    if (why !== null) return { is: 'off', path, why };
    const gone = findMissingStart(needs.disk, file.text, needs.os);
    return { is: 'on', by: way.by, path, isOld: hasOlder || !way.isCurrent(file.text), gone };
  }

  async function findOrChooseWay(): Promise<LoginWay> {
    return findInstalled()?.way ?? (await chooseWay(needs, ways));
  }

  async function remove(): Promise<void> {
    removeOlder();
    for (const way of ways) await removeUnit(needs, way);
  }

  function removeOlder(): void {
    for (const { path } of ways.flatMap(findOlder)) unlink(needs.disk, path);
  }

  async function set(on: boolean): Promise<void> {
    if (!on) return await remove();
    const other = findHeadlessUnit(needs);
    if (other !== null) throw new Fault('usage', formatTrayRefused(other), LOGIN);
    await putUnit(needs, await findOrChooseWay());
    removeOlder(); // not before: what cannot be written leaves what was there
  }

  return {
    check,
    set,
    async repair() {
      const before = await check();
      if (before.is === 'on' && before.gone !== null) await set(true);
      return before;
    },
    async missing() {
      if ((await findOrChooseWay()).by !== 'autostart' || hasDesktop(needs)) return null;
      return 'no systemd of this user answers (systemctl --user), and no desktop is installed that reads autostart files';
    },
    async state() {
      const { is } = await check();
      return is === 'foreign' ? null : is === 'on';
    },
    async print() {
      const way = await findOrChooseWay();
      return { path: way.path, text: await way.text() };
    },
  };
}

const formatTrayRefused = (path: string): string =>
  `the headless service is installed (${path}), and every mail would be told twice; run \`hivebar service uninstall --headless\` first`;

/** All ways of a platform, the preferred one first. */
function listWays(needs: LoginNeeds): readonly LoginWay[] {
  switch (needs.os) {
    case 'darwin':
      return [createLaunchAgentWay(needs)];
    case 'win32':
      return [createLogonTaskWay(needs)];
    default:
      return [createSystemdWay(needs), createAutostartWay(needs)];
  }
}

/**
 * systemd, where it starts with the desktop session or there is no desktop. A session that never reaches
 * `graphical-session.target` (many small desktops) would never pull our unit in, and reads autostart files.
 */
async function chooseWay(needs: LoginNeeds, ways: readonly LoginWay[]): Promise<LoginWay> {
  const [first, second] = ways;
  if (first === undefined) throw new Error('no platform is without a way');
  if (second === undefined) return first;
  return (await findTarget(needs)) === null ? second : first;
}

/** A desktop that runs now, or one that is installed: this may be asked over SSH. */
function hasDesktop({ env, disk }: LoginNeeds): boolean {
  if (env.DISPLAY || env.WAYLAND_DISPLAY || env.XDG_CURRENT_DESKTOP) return true;
  return SESSIONS.some((folder) => disk.files.lstat(folder) !== null);
}

const SESSIONS = ['/usr/share/xsessions', '/usr/share/wayland-sessions'];

/** Null: systemd is not the way here. */
async function findTarget(needs: LoginNeeds): Promise<SystemdTarget | null> {
  const command = ['systemctl', '--user', 'is-active', '--quiet', 'graphical-session.target'];
  const ended = await runToEnd(needs, command);
  if (ended.is !== 'exited') return null;
  if (ended.code === 0) return 'graphical-session.target';
  const hasDisplay = Boolean(needs.env.DISPLAY || needs.env.WAYLAND_DISPLAY);
  return ended.code === INACTIVE && !hasDisplay ? 'default.target' : null;
}

function createSystemdWay(needs: LoginNeeds): LoginWay {
  const folder = posix.join(resolveConfigHome(needs), 'systemd/user');
  return {
    by: 'systemd',
    older: [],
    path: posix.join(folder, UNIT),
    // A unit of ours that is there already goes on with its target: this may be asked over SSH.
    text: async () => formatSystemdUnit(needs.program, (await findTarget(needs)) ?? findEnabledTarget(needs, folder)),
    isOn: () => TARGETS.some((target) => isEnabledFor(needs, folder, target)),
    isCurrent: (text) => TARGETS.some((target) => text === formatSystemdUnit(needs.program, target)),
    async afterWrite() {
      await runOrThrow(needs, ['systemctl', '--user', 'daemon-reload']);
      await runOrThrow(needs, ['systemctl', '--user', 'reenable', UNIT]);
    },
    async afterRemove() {
      for (const target of TARGETS) unlink(needs.disk, getWantsPath(folder, target));
      const ended = await runToEnd(needs, ['systemctl', '--user', 'daemon-reload']);
      if (ended.is !== 'exited' || ended.code !== 0)
        needs.disk.log.info('no systemd of this user to tell: it reads its units when it starts');
    },
  };
}

const getWantsPath = (folder: string, target: SystemdTarget): string => posix.join(folder, `${target}.wants`, UNIT);

/** Enabled is a symlink that systemctl makes; it is looked at without asking anybody. */
function isEnabledFor({ disk }: LoginNeeds, folder: string, target: SystemdTarget): boolean {
  return disk.files.lstat(getWantsPath(folder, target)) !== null;
}

function findEnabledTarget(needs: LoginNeeds, folder: string): SystemdTarget {
  return TARGETS.find((target) => isEnabledFor(needs, folder, target)) ?? 'graphical-session.target';
}

function createAutostartWay(needs: LoginNeeds): LoginWay {
  return {
    by: 'autostart',
    older: [],
    path: posix.join(resolveConfigHome(needs), 'autostart/hivebar.desktop'),
    text: async () => formatAutostartEntry(needs.program),
    isOn: isEnabledEntry,
    isCurrent: (text) => text.includes(`\n${formatExecLine(needs.program)}\n`),
    ...NO_FOLLOW_UP,
  };
}

/** launchd reads the folder at each login. To load or unload it now would start a second Hivebar, or end this one. */
function createLaunchAgentWay({ home, program }: LoginNeeds): LoginWay {
  const plist = (label: string): string => posix.join(home, `Library/LaunchAgents/${label}.plist`);
  return {
    by: 'launch-agent',
    path: plist(LAUNCH_AGENT),
    older: [plist(OLDER_LAUNCH_AGENT)],
    text: async () => formatLaunchAgent(program),
    isOn: () => true,
    isCurrent: (text) => text === formatLaunchAgent(program),
    ...NO_FOLLOW_UP,
  };
}

/** The Task Scheduler keeps its own copy; by ours beside the state we know that the task is ours. */
function createLogonTaskWay(needs: LoginNeeds): LoginWay {
  const { env, program } = needs;
  const path = win32.join(program.state, 'logon-task.xml');
  const text = (): string => formatLogonTask(program, `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`);
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
    isCurrent: (content) => content === text(),
    // Without /F it refuses to overwrite: a task whose text we do not have is not ours.
    afterWrite: (isNew) =>
      runOrThrow(needs, ['schtasks.exe', '/Create', '/TN', LOGON_TASK, '/XML', path, ...(isNew ? [] : ['/F'])]),
    afterRemove: () => deleteTask(needs, LOGON_TASK),
  };
}

const NO_FOLLOW_UP = { afterWrite: async () => {}, afterRemove: async () => {} } as const;
const LOGIN = { is: 'machine', key: 'login' } as const;
