import type { Event } from '../events/index.ts';
import type { Ack, LostEvents, Sink } from './sink.ts';

/**
 * Wraps a sink so that it tries each event once, for at-most-once delivery (Kijito spec 6.2). An event that fails is
 * lost, and the following events are still tried. Two things end a batch early: a stop of our own, and a reader that is
 * gone.
 */
export function tryEachOnce<Saved>(sink: Sink<Saved>): Sink<Saved> {
  async function takeAll(events: readonly Event[], saved: Saved, signal: AbortSignal): Promise<Ack> {
    const indexes = new Set<number>();
    let lost: { readonly lost?: LostEvents } = {};
    for (let from = 0; ; ) {
      const ack = await sink.take(from === 0 ? events : events.slice(from), saved, signal);
      if (ack.is === 'all') return { is: 'all', ...lost };
      const failed = from + ack.count;
      if (signal.aborted || ack.fault.code === 'reader-gone')
        return { is: 'stopped', count: failed, fault: ack.fault, ...lost };
      indexes.add(failed);
      lost = { lost: { indexes, fault: ack.fault } };
      from = failed + 1;
      if (from >= events.length) return { is: 'all', ...lost };
    }
  }

  return {
    savesState: sink.savesState,
    open: () => sink.open(),
    take: takeAll,
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}
