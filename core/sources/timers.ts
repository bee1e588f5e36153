import type { Clock } from '../ports/index.ts';

/** One timer per key. When a key is scheduled again, the earlier of the two times counts. */
export interface Timers extends Disposable {
  schedule(ms: number, key: string, run: () => void): void;
}

export function createTimers(clock: Clock): Timers {
  const timers = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  return {
    schedule(ms, key, run) {
      const at = clock.monotonic() + ms;
      const known = timers.get(key);
      if (known !== undefined && known.at <= at) return;
      known?.timer[Symbol.dispose]();
      const timer = clock.after(ms, () => {
        timers.delete(key);
        run();
      });
      timers.set(key, { at, timer });
    },
    [Symbol.dispose]() {
      for (const { timer } of timers.values()) timer[Symbol.dispose]();
      timers.clear();
    },
  };
}
