import type { Event } from '../events/index.ts';
import type { Lost, Sink, Taken } from './sink.ts';

/**
 * A sink that tries each event once, as at most once means it (Kijito spec 6.2): an event that fails is lost, and the
 * events behind it are tried all the same. Two things still end a batch: a stop of ours, and a reader that is gone for ever.
 */
export function tryEachOnce<Kept>(sink: Sink<Kept>): Sink<Kept> {
  async function takeAll(events: readonly Event[], kept: Kept, signal: AbortSignal): Promise<Taken> {
    const indexes = new Set<number>();
    let lost: { readonly lost?: Lost } = {};
    for (let from = 0; ; ) {
      const taken = await sink.take(from === 0 ? events : events.slice(from), kept, signal);
      if (taken.is === 'all') return { is: 'all', ...lost };
      const failed = from + taken.count;
      if (signal.aborted || taken.fault.code === 'reader-gone')
        return { is: 'stopped', count: failed, fault: taken.fault, ...lost };
      indexes.add(failed);
      lost = { lost: { indexes, fault: taken.fault } };
      from = failed + 1;
      if (from >= events.length) return { is: 'all', ...lost };
    }
  }

  return {
    keeps: sink.keeps,
    open: () => sink.open(),
    take: takeAll,
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}
