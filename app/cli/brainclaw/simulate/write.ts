import { type Simulation, simulation, type Written } from './simulation.ts';
import { type SimulatedStore, simulatedStore } from './store.node.ts';
import type { Story } from './story.ts';

export interface Simulated {
  readonly store: SimulatedStore;
  readonly simulation: Simulation;
  /** What a reader must find. */
  readonly written: Written;
}

/**
 * Writes a made-up store into a folder, as fast as the disk takes it; what is not written yet is not in memory.
 * @throws Fault `unwritable` when the folder has a store that was not made here, or can not be written
 */
export function writeSimulated(folder: string, story: Story): Simulated {
  const store = simulatedStore(folder, story);
  const told = simulation(story);
  for (let append = told.next(); append !== null; append = told.next()) store.append(append);
  store.writeMeta(told);
  return { store, simulation: told, written: told.written };
}
