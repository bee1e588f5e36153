import type { Io } from '../../../core/command/index.ts';
import { displayName } from '../../../core/format/index.ts';
import {
  type DaemonInstallation,
  type DaemonName,
  type DaemonPlaces,
  findOwnDaemonPlaces,
  loadInstalledDaemons,
  readOwnSurroundings,
  toDaemonsDir,
} from '../../../core/link/index.ts';
import { type Random, realRandom, realSpawn, type Spawn } from '../../../core/ports/index.ts';
import { createRealDisk, type Disk } from '../../../core/state/index.ts';
import { createOwnDaemonService, type DaemonService } from '../../service/index.ts';
import { createStderrLog, getHostOs } from '../process.node.ts';

/** What the commands that install and remove daemons need. */
export interface DaemonContext {
  readonly io: Io;
  readonly disk: Disk;
  readonly random: Random;
  readonly os: NodeJS.Platform;
  readonly spawn: Spawn;
  readonly installed: readonly DaemonInstallation[];
  places(daemon: DaemonName): DaemonPlaces;
  service(daemon: DaemonName & { readonly project: string }): DaemonService;
}

export function createContext(io: Io): DaemonContext {
  const machine = {
    os: getHostOs(),
    env: io.env,
    disk: createRealDisk(createStderrLog(io, 'hivebar daemon')),
    random: realRandom,
    spawn: realSpawn,
  };
  const places = (daemon: DaemonName): DaemonPlaces => findOwnDaemonPlaces(daemon, io.env);
  return {
    io,
    ...machine,
    installed: loadInstalledDaemons(machine.disk, toDaemonsDir(readOwnSurroundings(io.env))),
    places,
    service: (daemon) => createOwnDaemonService(machine, daemon, places(daemon).dir),
  };
}

/** Prints why the command refuses. @returns the exit code */
export function reportRefusal({ io }: DaemonContext, why: string): number {
  io.err(`hivebar daemon: ${displayName(why)}\n`);
  return 1;
}
