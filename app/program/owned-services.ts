import { join } from 'node:path';
import type { Decisions } from '../../core/inbox/decisions/index.ts';
import { findOwnDaemonPlaces, loadInstalledDaemons } from '../../core/link/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Service } from '../../core/services/index.ts';
import type { Dirs } from '../../core/state/index.ts';
import type { InterruptionDetector } from '../../core/watcher/index.ts';
import type { Settings } from '../config/tray/index.ts';
import { createDaemonsService } from '../daemon/daemons-service.ts';
import { createHookInstaller } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { createAgentReportsService } from '../local/agent-reports-service.ts';
import { createHookStampsService, createNudgeService, toNudgeWays } from '../local/hook-services.ts';
import { createQueueService } from '../local/queue-service.ts';
import { createRelayService } from '../local/relay-service.ts';
import { createRepairService, createRetentionService, type RepairOptions } from '../local/store-upkeep.ts';
import { createOwnDaemonService, type LoginStart } from '../service/index.ts';
import { hideSecrets } from '../sources/open-sources.ts';
import type { TrayState } from './tray-state.ts';

export interface OwnedServicesOptions {
  readonly state: TrayState;
  readonly settings: Settings;
  readonly dirs: Dirs;
  readonly decisions: Decisions;
  readonly login: LoginStart;
  readonly interruptions: InterruptionDetector;
  /** The persona of a source that is this session of an agent program; null for none. */
  readonly findSessionOwner: (sessionId: string) => PersonaId | null;
}

/** What the tray process does beside watching. It writes, so it runs only while the store can be written. */
export interface OwnedServices {
  /** Started before the status server: what agents and hooks left for it. */
  readonly first: readonly Service[];
  /** Started when a person can see the program. */
  readonly last: readonly Service[];
}

export function createOwnedServices(options: OwnedServicesOptions, machine: Machine): OwnedServices {
  const { settings, dirs, decisions, login, interruptions, findSessionOwner } = options;
  const { board, db, local, retention, copy } = options.state;
  const directory = join(dirs.state, 'daemons');
  return {
    first: [
      createQueueService({ db, local, dirs }, machine),
      createHookStampsService(db, dirs, machine),
      createAgentReportsService({ db, dirs, board, findSessionOwner }, machine),
      createNudgeService({ db, local, dirs, ways: toNudgeWays(settings) }, machine),
    ],
    last: [
      ...(copy?.services ?? []),
      createRepairService(
        {
          ...{ hooks: createHookInstaller(machine.env), login, put: board.put },
          daemons: () => listInstalledUnits(directory, machine),
        },
        machine,
      ),
      createDaemonsService(
        { directory, findPlaces: (daemon) => findOwnDaemonPlaces(daemon, machine.env) },
        hideSecrets(machine),
      ),
      createRelayService({ settings, db, local, board, interruptions }, machine),
      createRetentionService({ local, decisions, retention, keepMailDays: settings.keepMailDays }, machine),
    ],
  };
}

type InstalledUnit = ReturnType<RepairOptions['daemons']>[number];

/** Lists the units of the persona daemons that the system's own launcher runs. */
function listInstalledUnits(directory: string, machine: Machine): readonly InstalledUnit[] {
  return loadInstalledDaemons(machine.disk, directory).flatMap((daemon) => {
    if (daemon.is === 'bad' || daemon.config.owner !== 'launcher') return [];
    const { dir } = findOwnDaemonPlaces(daemon.config, machine.env);
    return [{ name: daemon.name, service: createOwnDaemonService(hideSecrets(machine), daemon.config, dir) }];
  });
}
