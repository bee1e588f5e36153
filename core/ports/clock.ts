import type { Instant } from '../model/index.ts';

/** The only way to time. The real one is `realClock` in clock.node.ts, the fake one lives in test/kit. */
export interface Clock {
  now(): Instant;
  /** Milliseconds that never go backwards, for measuring spans. */
  monotonic(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts; never rejects, and leaves no timer behind. 0: when everybody else
   * has had a turn.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs once after `ms` unless disposed first. Does not keep the process alive. */
  after(ms: number, run: () => void): Disposable;
}
