import type { Event } from '../../core/events/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { EMPTY_TAIL, type Sink } from '../../core/sinks/index.ts';
import type { Persona, Source } from '../../core/sources/index.ts';
import {
  createInitialState,
  createWatcher,
  type PollOutcome,
  type SavedState,
  type Watcher,
  type WatcherRules,
} from '../../core/watcher/index.ts';

/** What a sink holds of one persona, from one process to the next: its events, and the state that came with them. */
export interface SinkRecord {
  readonly events: Event[];
  /** As JSON; null before the first process. */
  saved: string | null;
}

export const createDelivered = (): SinkRecord => ({ events: [], saved: null });

/** The texts of the messages that were delivered, in order. */
export function listTexts({ events }: SinkRecord): readonly unknown[] {
  return events.flatMap((event) => (event.event === 'new' ? [event.content] : []));
}

/** One persona as a process watches it, at least once, with its events and its state in one sink. */
export interface WatchedPersona {
  readonly watcher: Watcher;
  poll(signal?: AbortSignal): Promise<PollOutcome>;
}

const never = new AbortController().signal;

/** Continues where the process before ended; the first one finds an inbox that began in its time, so all of it is news. */
export function watchPersona(source: Source, persona: Persona, clock: Clock, delivered: SinkRecord): WatchedPersona {
  const rules: WatcherRules = {
    persona: persona.id,
    address: persona.address,
    source: source.kind,
    run: '00ff00ff00ff00ff',
    pollSeconds: 60,
    alertAfter: 3,
    maxReplay: 50,
    heartbeatMs: null,
    suppressed: new Set(),
    delivery: 'at-least-once',
    silenced: new Set(),
  };
  const sink: Sink<SavedState> = {
    savesState: true,
    open: async () => EMPTY_TAIL,
    async take(events, saved) {
      delivered.events.push(...events);
      delivered.saved = JSON.stringify(saved);
      return { is: 'all' };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const saved = delivered.saved === null ? null : (JSON.parse(delivered.saved) as SavedState);
  const start = saved === null ? ({ is: 'born' } as const) : ({ is: 'resume' } as const);
  const watcher = createWatcher({
    ...{ persona, source, sink, saver: null, rules, clock },
    state: createInitialState(clock.now(), start, saved, EMPTY_TAIL, rules),
    put: () => {},
    settling: () => false,
  });
  return { watcher, poll: (signal = never) => watcher.poll((run) => run(), signal, signal) };
}
