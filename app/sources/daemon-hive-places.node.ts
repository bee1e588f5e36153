import { readOwnSurroundings } from '../../core/link/index.ts';
import type { Machine } from '../host/machine.ts';
import { readMachineId } from '../host/machine-id.node.ts';
import type { DaemonHivePlaces } from './daemon-hive.ts';

/** Returns where the daemons of this user run, and what they call this machine. */
export function resolveDaemonHivePlaces(env: Machine['env']): DaemonHivePlaces {
  return { around: readOwnSurroundings(env), machineId: readMachineId() };
}
