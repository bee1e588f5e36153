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
import { kijitoEventsPaths } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from './machine.ts';
import { placesOf } from './watch-places.ts';

/** Where the events of a headless watch go: one sink a persona, or one for all of them. */
export interface WatchSinks extends AsyncDisposable {
  of(persona: Persona): Sink<unknown>;
}

export function watchSinks(plan: WatchPlan, machine: Machine, personas: readonly Persona[]): WatchSinks {
  const { emit } = plan;
  switch (emit.is) {
    case 'stdout':
      return shared(createStdoutSink({ clock: machine.clock, clocks: machine.clocks, log: machine.log }));
    case 'file':
      return shared(fileSink(emit.path, plan, machine));
    case 'template': {
      const places = placesOf(plan, machine.disk, personas.map(nameOf), (...how) =>
        kijitoEventsPaths(emit.template, ...how),
      );
      return each((persona) => fileSink(places(nameOf(persona)), plan, machine));
    }
    case 'exec': {
      const refused = refuseShellCommand(emit.command, machine.os);
      if (refused !== null) throw new Fault('usage', refused, { is: 'machine', key: 'exec' });
      return each(() => createExecSink({ command: emit.command, ...machine }));
    }
  }
}

/** Events without a persona go to the name `_all` (Kijito contract e). */
function nameOf(persona: Persona): string {
  return persona.address === '' ? '_all' : persona.id;
}

function fileSink(path: string, plan: WatchPlan, machine: Machine): Sink<unknown> {
  const { disk, clocks } = machine;
  return createFileSink({ disk, clocks, path: resolve(path), maxBytes: plan.maxBytes, keep: plan.keepLogs });
}

/** One sink behind many watches: it ends with the process, not with one of them. */
function shared(sink: Sink<unknown>): WatchSinks {
  const lent: Sink<unknown> = {
    keeps: sink.keeps,
    open: () => sink.open(),
    take: (events, kept, signal) => sink.take(events, kept, signal),
    [Symbol.asyncDispose]: async () => {},
  };
  return { of: () => lent, [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose]() };
}

function each(of: (persona: Persona) => Sink<unknown>): WatchSinks {
  return { of, [Symbol.asyncDispose]: async () => {} };
}
