import type { Clock } from '../ports/index.ts';

/** One timer for each thing that is to be done: asked for again meanwhile, the sooner of both. */
export interface Timers extends Disposable {
  in(ms: number, what: string, run: () => void): void;
}

export function keepTimers(clock: Clock): Timers {
  const timers = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  return {
    in(ms, what, run) {
      const at = clock.monotonic() + ms;
      const known = timers.get(what);
      if (known !== undefined && known.at <= at) return;
      known?.timer[Symbol.dispose]();
      const timer = clock.after(ms, () => {
        timers.delete(what);
        run();
      });
      timers.set(what, { at, timer });
    },
    [Symbol.dispose]() {
      for (const { timer } of timers.values()) timer[Symbol.dispose]();
      timers.clear();
    },
  };
}
