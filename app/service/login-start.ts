import { posix, win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { findHeadlessUnit, findMissingStart } from './headless-service.ts';
import { putLauncher, removeLauncher } from './launcher.ts';
import {
  checkTaskEnvironment,
  formatAutostartEntry,
  formatExecLine,
  formatLogonTask,
  isEnabledEntry,
  LOGON_TASK,
} from './login-entries.ts';
import {
  deleteTask,
  formatLaunchAgent,
  formatSystemdUnit,
  isTaskDeleted,
  LAUNCH_AGENT,
  OLDER_LAUNCH_AGENT,
  putUnit,
  readUnit,
  removeUnit,
  resolveConfigHome,
  runOrThrow,
  runToEnd,
  type SystemdTarget,
  type Unit,
  type UnitFileState,
  type UnitNeeds,
  unlink,
} from './supervised-unit.ts';

export type LoginNeeds = UnitNeeds;

type Mechanism = 'systemd' | 'autostart' | 'launch-agent' | 'logon-task';

/** The state of start at login. */
export type LoginStartStatus =
  | {
      readonly is: 'on';
      readonly by: Mechanism;
      readonly path: string;
      /** Not what `set(true)` would write: for another node or another copy of the program, or of an older Hivebar. */
      readonly isOld: boolean;
      /** What it starts and does not exist any more, so that nothing starts at login; null when nothing is missing. */
      readonly gone: string | null;
    }
  /**
   * `path`: our file exists but is switched off, for example in the settings of the desktop. `why`: where it is switched off, if
   * known.
   */
  | { readonly is: 'off'; readonly path: string | null; readonly why?: string }
  /** A file of that name that this Hivebar did not write. It is left alone. */
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

export interface LoginStart {
  /** Null when it is not known, because the file of that name is not ours. */
  state(): Promise<boolean | null>;
  /**
   * Switches start at login on or off for the next login; what runs now continues. If it is on already, on writes it again with
   * the current paths.
   * @throws Fault `usage` for on while the headless service exists, because two would deliver everything twice; `unwritable`,
   * also for a file of that name that is not ours; `exec-failed` for systemctl or schtasks
   */
  set(on: boolean): Promise<void>;
  check(): Promise<LoginStartStatus>;
  /**
   * Writes it again if it starts something that is gone, as `set(true)` does. @returns its earlier state @throws Fault as `set`
   */
  repair(): Promise<LoginStartStatus>;
  /** Returns what the entry needs to start anything and is missing, or null. A container has neither systemd nor a desktop. */
  missing(): Promise<string | null>;
  /** Returns what `set(true)` would write, and where. Writes nothing. @throws Fault `unwritable` */
  print(): Promise<UnitText>;
  /** Returns what supervises the program by the entry that is on; null when nothing does, as with an autostart file. */
  supervisor(): Promise<LoginSupervisor | null>;
}

/** The part of the platform that runs the program by our entry, and starts it again when it fails. */
export interface LoginSupervisor {
  /** What a person calls it, such as the name of the unit. */
  readonly name: string;
  /** Whether it runs the program now, as far as it tells. */
  isActive(): Promise<boolean>;
  /** Asks it to stop the program, and returns before that is done. Null: it is told by the program itself, which ends with 0. */
  readonly stop: (() => Promise<void>) | null;
  /** @throws Fault `exec-failed` */
  start(): Promise<void>;
}

export interface UnitText {
  readonly path: string;
  readonly text: string;
}

/** A unit that may be one of several on its platform. */
interface LoginWay extends Unit {
  readonly by: Mechanism;
  /** The paths where an older Hivebar wrote the same. */
  readonly older: readonly string[];
  /** Whether a file of ours is switched on. */
  isOn(text: string): boolean;
  /** Returns why a file that is on starts nothing, because it was switched off elsewhere; null when it works. */
  offElsewhere?(): Promise<string | null>;
  /** Whether it starts exactly this program. */
  isCurrent(text: string): boolean;
  /** Null for a way that only starts the program at login. */
  readonly supervisor: LoginSupervisor | null;
}

type OwnUnitFile = Extract<UnitFileState, { is: 'ours' }>;

interface InstalledWay {
  readonly way: LoginWay;
  /** The path of the way, or an older one. */
  readonly path: string;
  readonly file: Exclude<UnitFileState, { is: 'absent' }>;
  /** Whether a file of ours has an older name. */
  readonly hasOlder: boolean;
}

const UNIT = 'hivebar.service';
const TARGETS: readonly SystemdTarget[] = ['graphical-session.target', 'default.target'];
/** systemctl(1): the unit is not active. Any other code but 0 means that there is no systemd of this user. */
const INACTIVE = 3;

/**
 * Runs start at login with the platform's own means: systemd's user units or XDG autostart, LaunchAgents, the Task Scheduler.
 * Exactly one of them is used: an installed one stays, otherwise one is chosen when it is switched on.
 */
export function createLoginStart(needs: LoginNeeds): LoginStart {
  const ways = listWays(needs);

  /** Finds the first existing file under our names. Under an older name only a file of ours counts. */
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
    if (hasDesktopEntries(needs.os)) await removeLauncher(needs);
  }

  function removeOlder(): void {
    for (const { path } of ways.flatMap(findOlder)) unlink(needs.disk, path);
  }

  async function set(on: boolean): Promise<void> {
    if (!on) return await remove();
    const other = findHeadlessUnit(needs);
    if (other !== null) throw new Fault('usage', formatTrayRefused(other), LOGIN);
    await putUnit(needs, await findOrChooseWay());
    if (hasDesktopEntries(needs.os) && hasDesktop(needs)) await putLauncher(needs);
    removeOlder(); // not earlier: if the new file cannot be written, the old one stays
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
      return 'systemd of this user does not answer (systemctl --user), and no installed desktop reads autostart files';
    },
    async state() {
      const { is } = await check();
      return is === 'foreign' ? null : is === 'on';
    },
    async print() {
      const way = await findOrChooseWay();
      return { path: way.path, text: await way.text() };
    },
    async supervisor() {
      const installed = findInstalled();
      return installed?.file.is === 'ours' && (await check()).is === 'on' ? installed.way.supervisor : null;
    },
  };
}

const formatTrayRefused = (path: string): string =>
  `the headless service is installed (${path}), and every message would be delivered twice; run \`hivebar service uninstall --headless\` first`;

/** Lists all ways of a platform, the preferred one first. */
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
 * Chooses systemd if it starts with the desktop session or there is no desktop. A session that never reaches
 * `graphical-session.target` (many small desktops) would never start our unit, but reads autostart files.
 */
async function chooseWay(needs: LoginNeeds, ways: readonly LoginWay[]): Promise<LoginWay> {
  const [first, second] = ways;
  if (first === undefined) throw new Error('no platform is without a way');
  if (second === undefined) return first;
  return (await findTarget(needs)) === null ? second : first;
}

/** macOS and Windows have no desktop entries. */
const hasDesktopEntries = (os: NodeJS.Platform): boolean => os !== 'darwin' && os !== 'win32';

/** Returns whether a desktop runs or is installed, because this may be called over SSH. */
function hasDesktop({ env, disk }: LoginNeeds): boolean {
  if (env.DISPLAY || env.WAYLAND_DISPLAY || env.XDG_CURRENT_DESKTOP) return true;
  return SESSIONS.some((folder) => disk.files.lstat(folder) !== null);
}

const SESSIONS = ['/usr/share/xsessions', '/usr/share/wayland-sessions'];

/** Returns null when systemd must not be used here. */
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
    // An existing unit of ours stays with its target, because this may be called over SSH.
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
        needs.disk.log.info('systemd of this user is not running; it reads its units when it starts');
    },
    supervisor: {
      name: UNIT,
      isActive: () => isSuccessful(needs, ['systemctl', '--user', 'is-active', '--quiet', UNIT]),
      stop: () => runOrThrow(needs, ['systemctl', '--user', 'stop', '--no-block', UNIT]),
      start: () => runOrThrow(needs, ['systemctl', '--user', 'start', UNIT]),
    },
  };
}

async function isSuccessful(needs: LoginNeeds, command: readonly string[]): Promise<boolean> {
  const ended = await runToEnd(needs, command);
  return ended.is === 'exited' && ended.code === 0;
}

const getWantsPath = (folder: string, target: SystemdTarget): string => posix.join(folder, `${target}.wants`, UNIT);

/** A unit is enabled by a symlink that systemctl makes. The symlink is read without a call to systemctl. */
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
    supervisor: null,
    ...NO_FOLLOW_UP,
  };
}

/** launchd reads the folder at each login. Loading or unloading it now would start a second Hivebar, or end this one. */
function createLaunchAgentWay(needs: LoginNeeds): LoginWay {
  const { home, program } = needs;
  const plist = (label: string): string => posix.join(home, `Library/LaunchAgents/${label}.plist`);
  return {
    by: 'launch-agent',
    path: plist(LAUNCH_AGENT),
    older: [plist(OLDER_LAUNCH_AGENT)],
    text: async () => formatLaunchAgent(program),
    isOn: () => true,
    isCurrent: (text) => text === formatLaunchAgent(program),
    supervisor: {
      name: LAUNCH_AGENT,
      isActive: () => isSuccessful(needs, ['launchctl', 'list', LAUNCH_AGENT]),
      stop: null,
      start: () => runOrThrow(needs, ['launchctl', 'start', LAUNCH_AGENT]),
    },
    ...NO_FOLLOW_UP,
  };
}

/** The Task Scheduler has its own copy. Our copy beside the state shows that the task is ours. */
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
      (await isTaskDeleted(needs, LOGON_TASK)) ? `the task ${LOGON_TASK} is no longer in the Task Scheduler` : null,
    isCurrent: (content) => content === text(),
    // Without /F it refuses to overwrite: a task without our copy is not ours.
    afterWrite: (isNew) =>
      runOrThrow(needs, ['schtasks.exe', '/Create', '/TN', LOGON_TASK, '/XML', path, ...(isNew ? [] : ['/F'])]),
    afterRemove: () => deleteTask(needs, LOGON_TASK),
    supervisor: {
      name: LOGON_TASK,
      isActive: async () => !(await isTaskDeleted(needs, LOGON_TASK)),
      stop: null,
      start: () => runOrThrow(needs, ['schtasks.exe', '/Run', '/TN', LOGON_TASK]),
    },
  };
}

const NO_FOLLOW_UP = { afterWrite: async () => {}, afterRemove: async () => {} } as const;
const LOGIN = { is: 'machine', key: 'login' } as const;
