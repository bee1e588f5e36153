import type { Instant } from '../model/index.ts';

/** The only source of time in Hivebar. The real one is `realClock` in clock.node.ts; the fake one is in test/kit. */
export interface Clock {
  now(): Instant;
  /** Milliseconds that never go backwards, for measuring time spans. */
  monotonic(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts. It never rejects and leaves no timer behind. 0: resolves after
   * all other pending work has had a turn.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs once after `ms` unless disposed first. Does not keep the process alive. */
  after(ms: number, run: () => void): Disposable;
}

/** One reading of one clock. */
export interface Tick {
  /** Seconds since a moment that the clock defines, with microseconds. */
  readonly seconds: number;
  /** The platform's name of the clock that was really read, e.g. `CLOCK_BOOTTIME`. */
  readonly src: string;
}

/** All clocks of the machine, read directly after each other. Null: the machine has no such clock, or it cannot be read. */
export interface ClockReading {
  readonly wall: Instant;
  /** Stops while the machine sleeps. */
  readonly monotonic: Tick | null;
  /** Continues while the machine sleeps. It is read last, so it is never behind `monotonic` on a machine with sound clocks. */
  readonly boottime: Tick | null;
}

/** The clocks by their meaning, for times that others compare (Kijito contract b). Use `Clock` to measure a time. */
export interface Clocks {
  read(): ClockReading;
}

/** The log of the program. One line per call; `about` has the values that the line names. */
export interface Log {
  info(line: string, about?: Record<string, unknown>): void;
  warn(line: string, about?: Record<string, unknown>): void;
  error(line: string, about?: Record<string, unknown>): void;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

export interface Random {
  /** Returns `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}
