import { resolve } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  createExecSink,
  createFileSink,
  createStdoutSink,
  refuseShellCommand,
  type Sink,
} from '../../core/sinks/index.ts';
import type { Persona } from '../../core/sources/index.ts';
import { computeEventsPaths, type Disk } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.ts';

/** The sinks of a headless watch: one per persona, or one for all of them. */
export interface WatchSinks extends AsyncDisposable {
  getSink(persona: Persona): Sink<unknown>;
}

export function createWatchSinks(plan: WatchPlan, machine: Machine, personas: readonly Persona[]): WatchSinks {
  const { emit } = plan;
  switch (emit.is) {
    case 'stdout':
      return shareSink(createStdoutSink({ clock: machine.clock, clocks: machine.clocks, log: machine.log }));
    case 'file':
      return shareSink(openFileSink(emit.path, plan, machine));
    case 'template': {
      const places = createPathFinder(plan, machine.disk, personas.map(toFileName), (...how) =>
        computeEventsPaths(emit.template, ...how),
      );
      return openEach((persona) => openFileSink(places(toFileName(persona)), plan, machine));
    }
    case 'exec': {
      const refused = refuseShellCommand(emit.command, machine.os);
      if (refused !== null) throw new Fault('usage', refused, { is: 'machine', key: 'exec' });
      return openEach(() => createExecSink({ command: emit.command, ...machine }));
    }
  }
}

/** Events without a persona go to the name `_all` (Kijito contract e). */
function toFileName(persona: Persona): string {
  return persona.address === '' ? '_all' : persona.id;
}

function openFileSink(path: string, plan: WatchPlan, machine: Machine): Sink<unknown> {
  const { disk, clocks } = machine;
  return createFileSink({ disk, clocks, path: resolve(path), maxBytes: plan.maxBytes, keep: plan.keepLogs });
}

/** Shares one sink between many watchers. It ends with the process, not with one watcher. */
function shareSink(sink: Sink<unknown>): WatchSinks {
  const sharedSink: Sink<unknown> = {
    savesState: sink.savesState,
    open: () => sink.open(),
    take: (events, saved, signal) => sink.take(events, saved, signal),
    [Symbol.asyncDispose]: async () => {},
  };
  return { getSink: () => sharedSink, [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose]() };
}

function openEach(getSink: (persona: Persona) => Sink<unknown>): WatchSinks {
  return { getSink, [Symbol.asyncDispose]: async () => {} };
}

type PathsByName = Map<string, string>;
type PathAssigner = (names: Iterable<string>, assigned: PathsByName, spelled?: (name: string) => string) => PathsByName;

/**
 * Returns the file of each persona by its name. A persona that joins later gets no path that is in use. With at-least-once
 * delivery names are folded, as the later monitor does (Kijito contract b), unless a file with the exact spelling exists: that
 * file is used.
 */
export function createPathFinder(
  plan: WatchPlan,
  { files }: Disk,
  names: readonly string[],
  assignPaths: PathAssigner,
): (name: string) => string {
  const places: PathsByName = new Map();
  const assign = (newNames: readonly string[]): void => {
    const asSpelled = assignPaths(newNames, places);
    const folded =
      plan.delivery === 'at-most-once' ? asSpelled : assignPaths(newNames, places, (name) => name.toLowerCase());
    for (const name of newNames) {
      const [spelled, fold] = [asSpelled.get(name) ?? name, folded.get(name) ?? name];
      places.set(name, spelled !== fold && isThere(spelled) && !isThere(fold) ? spelled : fold);
    }
  };
  const isThere = (path: string): boolean => {
    try {
      return files.lstat(path) !== null;
    } catch {
      return false; // opening it reports what is wrong
    }
  };
  assign(names);
  return (name) => {
    if (!places.has(name)) assign([name]);
    return places.get(name) ?? name;
  };
}
