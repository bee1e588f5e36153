import type { Clock } from '../../core/ports/index.ts';

export interface FakeClock extends Clock {
  /** Lets `ms` pass: every timer due by then runs, in order, and what it set off runs before the next one. */
  advance(ms: number): Promise<void>;
  /** The process is stopped for `ms`: both clocks go on, and what was due meanwhile runs with the next advance. */
  stopFor(ms: number): void;
  /** Sets the wall clock by so much; as in a sleep through which the monotonic clock stands still. */
  setBy(ms: number): void;
  /** Timers and sleeps that wait; a suite ends with 0. */
  readonly waiting: number;
  /** Timers and sleeps that ended because their time had come. */
  readonly ran: number;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** A clock that stands still until it is told to move. `start` is its wall time. */
export function fakeClock(start = 1_750_000_000_000): FakeClock {
  let passed = 0;
  let set = 0;
  let ran = 0;
  const timers = new Set<Timer>();

  const add = (ms: number, run: () => void): Disposable => {
    const timer: Timer = { due: passed + Math.max(0, ms), run };
    timers.add(timer);
    return { [Symbol.dispose]: () => void timers.delete(timer) };
  };

  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer;
    return next;
  };

  return {
    now: () => start + set + passed,
    monotonic: () => passed,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || ms <= 0) return resolve(); // no time has to pass
        const done = (): void => {
          timer[Symbol.dispose]();
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = add(ms, done);
        signal.addEventListener('abort', done, { once: true });
      }),
    after: add,
    async advance(ms) {
      const until = passed + ms;
      await waitUntilQuiet();
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        ran += 1;
        passed = Math.max(passed, timer.due);
        timer.run();
        await waitUntilQuiet();
      }
      passed = until;
    },
    stopFor(ms) {
      passed += ms;
    },
    setBy(ms) {
      set += ms;
    },
    get waiting() {
      return timers.size;
    },
    get ran() {
      return ran;
    },
  };
}

/** Lets promises that are ready run, also those that wait for a turn of the event loop. */
function waitUntilQuiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
