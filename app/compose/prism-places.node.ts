import { ownSurroundings } from '../../core/link/index.ts';
import type { Machine } from './machine.ts';
import { ownMachineId } from './machine-id.node.ts';
import type { PrismPlaces } from './prism.ts';

/** Where the daemons of this user run, and what they call this machine. */
export function prismPlaces(env: Machine['env']): PrismPlaces {
  return { around: ownSurroundings(env), machineId: ownMachineId() };
}
