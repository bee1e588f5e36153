import { appendFileSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { realFiles } from '../../../ports/index.ts';
import { createRefusal, toIoFault } from '../../../state/index.ts';
import { formatProjectId, type SimulationStory, simulateMail } from './simulated-items.ts';
import { type Append, createSimulation, type Simulation, type SimulationSummary } from './simulation.ts';

/** This file marks a store as made up. Without it nothing of a store is ever changed. */
export const MARKER = 'hivebar-simulated.json';

interface SimulatedStore {
  /** The folder `.brainclaw`. */
  readonly root: string;
  /** Appends in one write, as a writer does. */
  append(append: Append): void;
  /** Writes `meta.json`, as a writer does after every append. */
  writeMeta(simulation: Simulation): void;
}

/**
 * Creates an empty store in a folder. An earlier store that was made here is replaced.
 * @throws Fault `unwritable` when the folder has a store that was not made here, or cannot be written
 */
function createSimulatedStore(folder: string, story: SimulationStory): SimulatedStore {
  const root = join(folder, '.brainclaw');
  try {
    clear(root);
    realFiles.mkdirAll(folder, 0o777);
    mkdirSync(root);
    writeFileSync(join(root, MARKER), `${JSON.stringify({ simulated: true, story })}\n`, { flag: 'wx' });
    return fillStore(root, story);
  } catch (error) {
    throw toIoFault(error, root, 'unwritable');
  }
}

/** @throws Fault `unwritable` for a store that is not ours */
function clear(root: string): void {
  const stat = lstatSync(root, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory() || !isOurs(join(root, MARKER))) {
    throw createRefusal(root, 'exists and was not written by simulate: use another folder with --to', 'unwritable');
  }
  rmSync(root, { recursive: true });
}

function isOurs(marker: string): boolean {
  if (lstatSync(marker, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    const value = JSON.parse(readFileSync(marker, 'utf8')) as { readonly simulated?: unknown } | null;
    return value?.simulated === true;
  } catch {
    return false; // it is not a marker that was written here
  }
}

function fillStore(root: string, story: SimulationStory): SimulatedStore {
  const events = join(root, 'events');
  mkdirSync(events);
  writeFileSync(join(root, 'config.yaml'), formatConfig(story));
  for (const { agent, name, text } of simulateMail(story).messages) {
    const inbox = join(root, 'coordination', 'inbox', agent);
    realFiles.mkdirAll(inbox, 0o777);
    writeFileSync(join(inbox, name), text);
  }
  return {
    root,
    append: ({ segment, text }) => appendFileSync(join(events, segment), text),
    writeMeta: (simulation) => {
      const path = join(events, 'meta.json');
      writeFileSync(`${path}.tmp`, simulation.meta());
      realFiles.rename(`${path}.tmp`, path);
    },
  };
}

function formatConfig(story: SimulationStory): string {
  return [
    ...['version: 1', 'project_name: simulated', `project_id: ${formatProjectId(story)}`, 'storage_dir: .brainclaw'],
    ...['store:', '  journal:', '    mode: dual', ''],
  ].join('\n');
}

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
