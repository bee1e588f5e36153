import {
  type DaemonName,
  type DaemonPlaces,
  daemonsDir,
  type Installed,
  installedDaemons,
  ownDaemonPlaces,
  ownSurroundings,
} from '../../../core/link/index.ts';
import { type Random, realRandom, realSpawn, type Spawn } from '../../../core/ports/index.ts';
import { type Disk, realDisk } from '../../../core/state/index.ts';
import { printable } from '../../printable.ts';
import { type DaemonService, daemonService } from '../../service/index.ts';
import type { Io } from '../command.ts';
import { hostOs } from '../service-host.node.ts';
import { stderrLog } from '../stderr-log.ts';

/** What the commands that install daemons and take them away stand on. */
export interface Ground {
  readonly io: Io;
  readonly disk: Disk;
  readonly random: Random;
  readonly os: NodeJS.Platform;
  readonly spawn: Spawn;
  readonly installed: readonly Installed[];
  places(daemon: DaemonName): DaemonPlaces;
  service(daemon: DaemonName & { readonly project: string }): DaemonService;
}

export function groundOf(io: Io): Ground {
  const machine = {
    os: hostOs(),
    env: io.env,
    disk: realDisk(stderrLog(io, 'hivebar daemon')),
    random: realRandom,
    spawn: realSpawn,
  };
  const places = (daemon: DaemonName): DaemonPlaces => ownDaemonPlaces(daemon, io.env);
  return {
    io,
    ...machine,
    installed: installedDaemons(machine.disk, daemonsDir(ownSurroundings(io.env))),
    places,
    service: (daemon) => daemonService(machine, daemon, places(daemon).dir),
  };
}

/** Says why not. @returns the exit code */
export function refused({ io }: Ground, why: string): number {
  io.err(`hivebar daemon: ${printable(why)}\n`);
  return 1;
}
