import { posix, win32 } from 'node:path';
import { ensurePrivateDir } from '../../core/state/index.ts';
import { isTaskDeleted } from './delete-task.ts';
import {
  formatHeadlessLaunchAgent,
  formatHeadlessStart,
  formatHeadlessSystemdUnit,
  HEADLESS_LABEL,
  HEADLESS_LOG,
  HEADLESS_REMOVED_BY,
  HEADLESS_TASK,
  HEADLESS_UNIT,
  type HeadlessRun,
  listHeadlessTaskWords,
} from './headless-units.ts';
import { isLingering } from './linger.ts';
import { formatLogonTask, TRAY_TASK } from './logon-task.ts';
import type { ServiceProgram } from './service-program.ts';
import { findMissingStart } from './start-paths.ts';
import {
  createLaunchdAgent,
  createScheduledTask,
  createSystemdService,
  type SupervisedNeeds,
} from './supervised-unit.ts';
import { putUnit, readUnit, removeUnit, type Unit, type UnitNeeds } from './unit-file.ts';

export type HeadlessNeeds = SupervisedNeeds;

/** The state of the headless service. */
export type HeadlessStatus =
  | { readonly is: 'absent' }
  /**
   * `gone` is what it starts and does not exist any more. `isOld` means that it starts another node or another copy of the
   * program, or was written by an older Hivebar.
   */
  | { readonly is: 'ours'; readonly path: string; readonly isOld: boolean; readonly gone: string | null }
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

/** The headless watch under the supervisor of the platform (Kijito contract i). */
export interface HeadlessService {
  /** The directory of its positions, event files and log. */
  readonly directory: string;
  check(): HeadlessStatus;
  /** Writes the unit, or writes it again, and starts it. @throws Fault `unwritable`, `exec-failed` */
  install(flags: readonly string[]): Promise<void>;
  /** Stops it and removes the unit. @throws Fault as `install` */
  uninstall(): Promise<void>;
  /** Returns what `install` would write, and where. */
  print(flags: readonly string[]): Promise<{ readonly path: string; readonly text: string }>;
  /**
   * Returns what the supervisor has lost of an installed service; null for nothing. Only the Task Scheduler has a copy of its
   * own.
   */
  findLost(): Promise<string | null>;
  /** Returns whether it continues without a login; null when that is not known, or does not apply here. */
  isLingering(): Promise<boolean | null>;
}

export function createHeadlessService(needs: HeadlessNeeds): HeadlessService {
  const directory = getHeadlessDirectory(needs.os, needs.program);
  const { path } = createUnit(needs, { program: needs.program, flags: [], directory });
  const unit = (flags: readonly string[]): Unit => createUnit(needs, { program: needs.program, flags, directory });
  return {
    directory,
    check() {
      const file = readUnit(needs, path);
      if (file.is === 'absent') return { is: 'absent' };
      if (file.is === 'foreign') return { is: 'foreign', path, why: file.why };
      const isOld = !file.text.includes(formatHeadlessStart(needs.os, needs.program));
      return { is: 'ours', path, isOld, gone: findMissingStart(needs.disk, file.text, needs.os) };
    },
    async install(flags) {
      ensurePrivateDir(needs.disk, directory); // the log of launchd needs this directory
      await putUnit(needs, unit(flags));
    },
    uninstall: () => removeUnit(needs, unit([])),
    print: async (flags) => ({ path, text: await unit(flags).text() }),
    async findLost() {
      const isLost = needs.os === 'win32' && (await isTaskDeleted(needs, HEADLESS_TASK));
      return isLost ? `the task ${HEADLESS_TASK}` : null;
    },
    isLingering: () => isLingering(needs),
  };
}

/** Finds the unit of the headless service of this Hivebar; null when there is none. @throws Fault `unreadable` */
export function findHeadlessUnit(needs: UnitNeeds): string | null {
  const status = createHeadlessService({ ...needs, uid: null }).check();
  return status.is === 'ours' ? status.path : null;
}

/**
 * It is below the state directory and never in a cache, because after a clean-up the service would start over (Kijito contract,
 * trap 38).
 */
function getHeadlessDirectory(os: NodeJS.Platform, { state }: ServiceProgram): string {
  return (os === 'win32' ? win32 : posix).join(state, 'headless');
}

function formatUnitText({ os, env }: HeadlessNeeds, headless: HeadlessRun): string {
  if (os === 'darwin') return formatHeadlessLaunchAgent(headless, posix.join(headless.directory, HEADLESS_LOG));
  if (os !== 'win32') return formatHeadlessSystemdUnit(headless);
  const words = listHeadlessTaskWords(headless, win32.join(headless.directory, HEADLESS_LOG));
  const user = `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`;
  return formatLogonTask(headless.program, user, {
    ...TRAY_TASK,
    words,
    removedBy: HEADLESS_REMOVED_BY,
    restarts: 255,
  });
}

function createUnit(needs: HeadlessNeeds, headless: HeadlessRun): Unit {
  const text = async (): Promise<string> => formatUnitText(needs, headless);
  switch (needs.os) {
    case 'darwin':
      return createLaunchdAgent(needs, HEADLESS_LABEL, text);
    case 'win32':
      return createScheduledTask(needs, HEADLESS_TASK, win32.join(headless.directory, 'logon-task.xml'), text);
    default:
      return createSystemdService(needs, HEADLESS_UNIT, text);
  }
}
