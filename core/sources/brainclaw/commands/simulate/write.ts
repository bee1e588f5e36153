import type { SimulationStory } from './items.ts';
import { createSimulation, type Simulation, type SimulationSummary } from './simulation.ts';
import { createSimulatedStore, type SimulatedStore } from './store.node.ts';

export interface SimulatedProject {
  readonly store: SimulatedStore;
  readonly simulation: Simulation;
  /** The counts that a reader must find. */
  readonly written: SimulationSummary;
}

/**
 * Writes a made-up store into a folder. Batches go to disk one by one, so the rest of the story needs no memory.
 * @throws Fault `unwritable` when the folder has a store that was not made here, or cannot be written
 */
export function writeSimulatedProject(folder: string, story: SimulationStory): SimulatedProject {
  const store = createSimulatedStore(folder, story);
  const run = createSimulation(story);
  for (let append = run.next(); append !== null; append = run.next()) store.append(append);
  store.writeMeta(run);
  return { store, simulation: run, written: run.written };
}
