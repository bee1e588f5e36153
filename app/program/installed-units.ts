import { findOwnDaemonPlaces, loadInstalledDaemons } from '../../core/link/index.ts';
import type { Machine } from '../host/machine.ts';
import type { RepairOptions } from '../local/repair-service.ts';
import { createOwnDaemonService } from '../service/index.ts';
import { hideSecrets } from '../sources/open-sources.ts';

type InstalledUnit = ReturnType<RepairOptions['daemons']>[number];

/** Lists the units of the persona daemons that the system's own launcher runs. */
export function listInstalledUnits(directory: string, machine: Machine): readonly InstalledUnit[] {
  return loadInstalledDaemons(machine.disk, directory).flatMap((daemon) => {
    if (daemon.is === 'bad' || daemon.config.owner !== 'launcher') return [];
    const { dir } = findOwnDaemonPlaces(daemon.config, machine.env);
    return [{ name: daemon.name, service: createOwnDaemonService(hideSecrets(machine), daemon.config, dir) }];
  });
}
