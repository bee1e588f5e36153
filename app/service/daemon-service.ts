import { win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  createDaemonTaskKind,
  type DaemonUnit,
  formatDaemonLaunchAgent,
  formatDaemonSystemdUnit,
  formatDaemonTaskName,
  formatDaemonUnitName,
} from './daemon-units.ts';
import { enableLinger } from './linger.ts';
import { checkTaskEnvironment, formatLogonTask } from './logon-task.ts';
import { findMissingStart } from './start-paths.ts';
import {
  createLaunchdAgent,
  createScheduledTask,
  createSystemdService,
  type SupervisedNeeds,
  type SupervisedUnit,
} from './supervised-unit.ts';
import { putUnit, readUnit, removeUnit } from './unit-file.ts';

/** The state of the unit of a daemon. */
export type DaemonUnitStatus =
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

export type DaemonServiceNeeds = Omit<SupervisedNeeds, 'program'>;

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
