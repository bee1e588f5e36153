import { win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  type DaemonUnit,
  daemonLaunchAgent,
  daemonSystemdUnit,
  daemonTask,
  daemonTaskKind,
  daemonUnitName,
} from './daemon-units.ts';
import { enableLinger } from './linger.ts';
import { checkTaskEnvironment, logonTask } from './logon-task.ts';
import { findGone } from './starts.ts';
import { launchdAgent, type Supervised, type SupervisedNeeds, scheduledTask, systemdService } from './supervised.ts';
import { putUnit, readUnit, removeUnit } from './unit-file.ts';

/** What is there of the unit of a daemon. */
export type DaemonLook =
  | { readonly is: 'absent' }
  /** `gone`: what it starts and is not there any more. `isOld`: not what `install` would write: another node, another copy of the program, another project. */
  | { readonly is: 'ours'; readonly path: string; readonly isOld: boolean; readonly gone: string | null }
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

/** One persona daemon under the launcher of the platform, for this user (persona daemon, contract 7). */
export interface DaemonService {
  look(): Promise<DaemonLook>;
  /** Writes the unit, anew when it is there, and starts it. @throws Fault `unwritable`, `exec-failed`, `usage` for root by sudo */
  install(): Promise<void>;
  /** Writes a unit anew that starts something which is gone, and starts it. @returns what was gone @throws Fault as `install` */
  repair(): Promise<string | null>;
  /** Has it go on after a logout. @throws Fault `exec-failed`, naming the command */
  enableLinger(): Promise<void>;
  /** Stops it and starts it at no login. The unit stays. */
  pause(): Promise<void>;
  /** Stops it and removes the unit. Whether the user lingers is left as it is. @throws Fault as `install` */
  uninstall(): Promise<void>;
  /** Whether the launcher runs it; null: it can not be told, or there is no unit. */
  runs(): Promise<boolean | null>;
  /** What `install` would write, and where. */
  print(): Promise<{ readonly path: string; readonly text: string }>;
}

export type DaemonServiceNeeds = Omit<SupervisedNeeds, 'program'>;

/** @param directory where the daemon has its configuration */
export function createDaemonService(rest: DaemonServiceNeeds, daemon: DaemonUnit, directory: string): DaemonService {
  const needs: SupervisedNeeds = { ...rest, program: daemon.program };
  const unit = unitOf(needs, daemon, directory);
  const look = async (): Promise<DaemonLook> => {
    const file = readUnit(needs, unit.path);
    if (file.is === 'absent') return { is: 'absent' };
    if (file.is === 'foreign') return { is: 'foreign', path: unit.path, why: file.why };
    const gone = findGone(needs.disk, file.text, needs.os);
    return { is: 'ours', path: unit.path, isOld: file.text !== (await unit.text()), gone };
  };
  return {
    look,
    async install() {
      refuseSudo(needs);
      await putUnit(needs, unit);
    },
    async repair() {
      const before = await look();
      if (before.is !== 'ours' || before.gone === null) return null;
      await putUnit(needs, unit);
      return before.gone;
    },
    enableLinger: () => enableLinger(needs),
    async pause() {
      if ((await look()).is === 'ours') await unit.paused();
    },
    uninstall: () => removeUnit(needs, unit),
    runs: async () => ((await look()).is === 'ours' ? await unit.runs() : null),
    print: async () => ({ path: unit.path, text: await unit.text() }),
  };
}

function unitOf(needs: SupervisedNeeds, daemon: DaemonUnit, directory: string): Supervised {
  switch (needs.os) {
    case 'darwin':
      return launchdAgent(needs, daemonUnitName(daemon), async () => daemonLaunchAgent(daemon));
    case 'win32':
      return scheduledTask(needs, daemonTask(daemon), win32.join(directory, 'logon-task.xml'), async () => {
        checkTaskEnvironment(daemon.program);
        const user = `${needs.env.USERDOMAIN ?? '.'}\\${needs.env.USERNAME ?? ''}`;
        return logonTask(daemon.program, user, daemonTaskKind(daemon));
      });
    default:
      return systemdService(needs, `${daemonUnitName(daemon)}.service`, async () => daemonSystemdUnit(daemon));
  }
}

/** Per user only: what sudo installs would be root's, and not the agent's. Root who logged in as such is a user like others. */
function refuseSudo({ env, uid }: SupervisedNeeds): void {
  if (uid !== 0 || !env.SUDO_USER) return;
  const why = `a persona daemon belongs to a user, never to the system: run it as ${env.SUDO_USER}, without sudo`;
  throw new Fault('usage', why, { is: 'machine', key: 'daemon' });
}
