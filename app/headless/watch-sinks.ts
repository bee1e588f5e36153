import { resolve } from 'node:path';
import { type Event, toMailEventId, toWakeClass } from '../../core/events/index.ts';
import { Fault, formatIso, toFault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import {
  createExecSink,
  createFileSink,
  createStdoutSink,
  refuseShellCommand,
  type Sink,
} from '../../core/sinks/index.ts';
import type { Evidence, Persona, Source } from '../../core/sources/index.ts';
import { computeEventsPaths, type Disk } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.node.ts';

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

/**
 * Runs `--self-test` (Kijito spec 7.2): for each persona one real peek, and one synthetic event through the real sink. There is
 * no lock, no state and no event file: events go to stdout even where a file is configured. Returns true when all of it worked.
 */
export async function runSelfTest(
  plan: WatchPlan,
  source: Source,
  personas: readonly Persona[],
  machine: Machine,
): Promise<boolean> {
  const emit = plan.emit.is === 'exec' ? plan.emit : ({ is: 'stdout' } as const);
  // The verdict contains what a sink would log.
  await using sinks = createWatchSinks({ ...plan, emit }, { ...machine, log: silentLog }, personas);
  const peek = async (persona: Persona, label: string): Promise<{ ok: boolean; text: string }> => {
    try {
      const { evidence } = await source.poll(persona, { is: 'unset' }, machine.stop);
      return { ok: true, text: `reachable, ${formatEvidence(evidence)}` };
    } catch (error) {
      return { ok: false, text: toFault(error, { is: 'persona', key: label }).explain() };
    }
  };
  let passed = true;
  for (const persona of personas) {
    const label = persona.address === '' ? persona.label : persona.id;
    const fetched = await peek(persona, label);
    machine.log.info(`self-test ${label}: fetch ${fetched.ok ? 'ok' : 'FAILED'}: ${fetched.text}`);
    const sink = sinks.getSink(persona);
    const ack = await sink.take([createSyntheticEvent(persona, source, machine)], null, machine.stop);
    const emitted = ack.is === 'all' ? 'ok' : `FAILED: ${ack.fault.explain()}`;
    machine.log.info(`self-test ${label}: emit ${emitted}`);
    await sink[Symbol.asyncDispose]();
    passed = passed && fetched.ok && ack.is === 'all';
  }
  return passed;
}

function createSyntheticEvent(persona: Persona, source: Source, machine: Machine): Event {
  const at = formatIso(machine.clock.now());
  const name = persona.address === '' ? null : persona.id;
  return {
    event: 'new',
    source: source.kind,
    ts: at,
    id: 0,
    from: 'self-test',
    created: at,
    ...(name === null ? {} : { persona: name }),
    content: 'synthetic emit OK',
    event_id: toMailEventId(name, 0),
    wake_class: toWakeClass('new'),
  };
}

function formatEvidence(evidence: Evidence): string {
  switch (evidence.is) {
    case 'log':
      return `newest message ${evidence.max}`;
    case 'set':
      return `${evidence.items.length} items`;
    case 'level':
      return 'counts only';
  }
}
