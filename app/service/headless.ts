import { posix, win32 } from 'node:path';
import { ensurePrivateDir } from '../../core/state/index.ts';
import { deleteTask } from './delete-task.ts';
import {
  HEADLESS_LABEL,
  HEADLESS_LOG,
  HEADLESS_REMOVED_BY,
  HEADLESS_TASK,
  HEADLESS_UNIT,
  type Headless,
  headlessLaunchAgent,
  headlessStart,
  headlessSystemdUnit,
  headlessTaskWords,
} from './headless-units.ts';
import { logonTask } from './logon-task.ts';
import type { Program } from './program.ts';
import { configOf, end, putUnit, readUnit, removeUnit, run, type Unit, type UnitNeeds, unlink } from './unit-file.ts';

export interface HeadlessNeeds extends UnitNeeds {
  /** Null where the platform has none. */
  readonly uid: number | null;
}

/** What is there of the headless service. */
export type HeadlessLook =
  | { readonly is: 'absent' }
  /** `isOld`: it starts another node or another copy of the program than this one, or is of an older Hivebar. */
  | { readonly is: 'ours'; readonly path: string; readonly isOld: boolean }
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

/** The headless watch under the supervisor of the platform (Kijito contract i). */
export interface HeadlessService {
  /** Where its positions, event files and log are. */
  readonly directory: string;
  look(): HeadlessLook;
  /** Writes the unit, anew when it is there, and starts it. @throws Fault `unwritable`, `exec-failed` */
  install(flags: readonly string[]): Promise<void>;
  /** Stops it and removes the unit. @throws Fault as `install` */
  uninstall(): Promise<void>;
  /** What `install` would write, and where. */
  print(flags: readonly string[]): Promise<{ readonly path: string; readonly text: string }>;
  /** Whether it goes on without a login; null: that can not be told, or is no question here. */
  lingers(): Promise<boolean | null>;
}

export function createHeadlessService(needs: HeadlessNeeds): HeadlessService {
  const directory = headlessDirectory(needs.os, needs.program);
  const { path } = unitOf(needs, { program: needs.program, flags: [], directory });
  const unit = (flags: readonly string[]): Unit => unitOf(needs, { program: needs.program, flags, directory });
  return {
    directory,
    look() {
      const file = readUnit(needs, path);
      if (file.is === 'absent') return { is: 'absent' };
      if (file.is === 'foreign') return { is: 'foreign', path, why: file.why };
      return { is: 'ours', path, isOld: !file.text.includes(headlessStart(needs.os, needs.program)) };
    },
    async install(flags) {
      ensurePrivateDir(needs.disk, directory); // the log of launchd wants it there
      await putUnit(needs, unit(flags));
    },
    uninstall: () => removeUnit(needs, unit([])),
    print: async (flags) => ({ path, text: await unit(flags).text() }),
    lingers: () => lingers(needs),
  };
}

/** The unit of the headless service of this very Hivebar, null when there is none. @throws Fault `unreadable` */
export function headlessUnitAt(needs: UnitNeeds): string | null {
  const look = createHeadlessService({ ...needs, uid: null }).look();
  return look.is === 'ours' ? look.path : null;
}

/** Below the state directory, never a cache: a cleaner would have it start over (Kijito contract, trap 38). */
function headlessDirectory(os: NodeJS.Platform, { state }: Program): string {
  return (os === 'win32' ? win32 : posix).join(state, 'headless');
}

function textOf({ os, env }: HeadlessNeeds, headless: Headless): string {
  if (os === 'darwin') return headlessLaunchAgent(headless, posix.join(headless.directory, HEADLESS_LOG));
  if (os !== 'win32') return headlessSystemdUnit(headless);
  const words = headlessTaskWords(headless, win32.join(headless.directory, HEADLESS_LOG));
  const user = `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`;
  return logonTask(headless.program, user, { words, removedBy: HEADLESS_REMOVED_BY, restarts: 255 });
}

function unitOf(needs: HeadlessNeeds, headless: Headless): Unit {
  const text = async (): Promise<string> => textOf(needs, headless);
  switch (needs.os) {
    case 'darwin':
      return launchd(needs, text);
    case 'win32':
      return scheduler(needs, headless, text);
    default:
      return systemd(needs, text);
  }
}

function systemd(needs: HeadlessNeeds, text: Unit['text']): Unit {
  const folder = posix.join(configOf(needs), 'systemd/user');
  const systemctl = (...args: string[]): Promise<void> => run(needs, ['systemctl', '--user', ...args]);
  async function removed(): Promise<void> {
    unlink(needs.disk, posix.join(folder, 'default.target.wants', HEADLESS_UNIT));
    await told(needs, ['systemctl', '--user', 'stop', HEADLESS_UNIT]);
    await told(needs, ['systemctl', '--user', 'daemon-reload']);
  }
  return {
    path: posix.join(folder, HEADLESS_UNIT),
    text,
    async written(isNew) {
      await systemctl('daemon-reload');
      await systemctl('reenable', HEADLESS_UNIT);
      await undoing(isNew ? removed : null, () => systemctl('restart', HEADLESS_UNIT));
    },
    removed,
  };
}

function launchd(needs: HeadlessNeeds, text: Unit['text']): Unit {
  const path = posix.join(needs.home, `Library/LaunchAgents/${HEADLESS_LABEL}.plist`);
  const domain = `gui/${needs.uid ?? 0}`;
  return {
    path,
    text,
    async written() {
      await end(needs, ['launchctl', 'bootout', `${domain}/${HEADLESS_LABEL}`]); // an older one; there need not be any
      await run(needs, ['launchctl', 'bootstrap', domain, path]);
    },
    removed: () => told(needs, ['launchctl', 'bootout', `${domain}/${HEADLESS_LABEL}`]),
  };
}

/** The Task Scheduler keeps its own copy; by ours beside the state we know that the task is ours. */
function scheduler(needs: HeadlessNeeds, { directory }: Headless, text: Unit['text']): Unit {
  const path = win32.join(directory, 'logon-task.xml');
  const tasks = (...args: string[]): string[] => ['schtasks.exe', ...args];
  return {
    path,
    text,
    async written(isNew) {
      await run(needs, tasks('/Create', '/TN', HEADLESS_TASK, '/XML', path, ...(isNew ? [] : ['/F'])));
      const undo = (): Promise<void> => deleteTask(needs, HEADLESS_TASK); // what was created is ours
      await undoing(isNew ? undo : null, () => run(needs, tasks('/Run', '/TN', HEADLESS_TASK)));
    },
    async removed() {
      await told(needs, tasks('/End', '/TN', HEADLESS_TASK));
      await deleteTask(needs, HEADLESS_TASK);
    },
  };
}

/** `step`, and when it fails what takes back those before it. @throws as `step` */
async function undoing(undo: (() => Promise<void>) | null, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    await undo?.();
    throw error;
  }
}

/** The unit is gone already: who does not hear of it has nothing of it at the next start. */
async function told(needs: HeadlessNeeds, command: readonly string[]): Promise<void> {
  const ended = await end(needs, command);
  if (ended.is === 'exited' && ended.code === 0) return;
  const why = ended.is === 'exited' ? `ended with ${ended.code}: ${ended.stderr.trim()}` : ended.is;
  needs.disk.log.info(`${command.join(' ')}: ${why}: what runs may go on`);
}

/** Units of a user stop with the last logout unless the user lingers (loginctl(1); Kijito contract, trap 69). */
async function lingers(needs: HeadlessNeeds): Promise<boolean | null> {
  if (needs.os === 'darwin' || needs.os === 'win32' || needs.uid === null) return null;
  // Only stderr of a program is kept here.
  const ended = await end(needs, ['sh', '-c', `exec loginctl show-user ${needs.uid} --property=Linger >&2`]);
  if (ended.is !== 'exited') return null;
  if (/^Linger=yes$/m.test(ended.stderr)) return true;
  return /^Linger=no$|not logged in or lingering/m.test(ended.stderr) ? false : null;
}
