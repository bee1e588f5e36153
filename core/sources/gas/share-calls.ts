import type { Clock } from '../../ports/index.ts';

/** A call that those who make it at the same moment share. Disposing it ends the calls under way. */
export interface SharedCall<T> extends AsyncDisposable {
  /** @throws what the call throws, or the reason of the signal */
  (signal: AbortSignal): Promise<T>;
}

interface CallUnderWay<T> {
  readonly result: Promise<T>;
  readonly abort: AbortController;
  waiting: number;
}

/**
 * Shares one call among those who ask within one turn of the event loop, as the polls of a whole hive do. Whoever asks later gets an
 * answer that began later. A call ends early when nobody waits for it any more.
 */
export function shareCalls<T>(clock: Pick<Clock, 'sleep'>, call: (signal: AbortSignal) => Promise<T>): SharedCall<T> {
  const stop = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let open: CallUnderWay<T> | null = null;

  function begin(): CallUnderWay<T> {
    const abort = new AbortController();
    const follow = (): void => abort.abort(stop.signal.reason);
    stop.signal.addEventListener('abort', follow, { once: true });
    const result = call(abort.signal);
    const begun = { result, abort, waiting: 0 };
    const closing = clock.sleep(0, stop.signal).then(() => {
      if (open === begun) open = null;
    });
    const ended = Promise.allSettled([result, closing]).then(() => {
      stop.signal.removeEventListener('abort', follow);
      underWay.delete(ended);
    });
    underWay.add(ended);
    return begun;
  }

  const ask = async (signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    open ??= begin();
    const shared = open;
    shared.waiting += 1;
    const ended = Promise.withResolvers<never>();
    const leave = (): void => ended.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([shared.result, ended.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      shared.waiting -= 1;
      if (shared.waiting === 0) {
        if (open === shared && signal.aborted) open = null;
        if (signal.aborted) shared.abort.abort(signal.reason);
      }
    }
  };
  return Object.assign(ask, {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(underWay);
    },
  });
}
