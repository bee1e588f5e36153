import type { Clock } from '../ports/index.ts';
import type { Service } from './service.ts';

/** A service that repeats its round. */
export interface PeriodicService extends Service {
  /** Ends the current wait, so that the next round begins as soon as the running one is over. */
  wake(): void;
}

export interface PeriodicOptions {
  readonly name: string;
  /** Milliseconds from the end of a round to the next one. A function is called after each round. */
  readonly ms: number | (() => number);
  /** Milliseconds to the first round. 0, the default, runs it at once, in the turn in which the service is started. */
  readonly firstMs?: number;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Creates a service that runs `round`, and again `ms` after each end. A round that throws ends the service; its
 * supervisor restarts it.
 */
export function every({ name, ms, firstMs = 0, round, clock }: PeriodicOptions): PeriodicService {
  let wait = new AbortController();
  return {
    name,
    wake: () => wait.abort(),
    async run(signal) {
      if (firstMs > 0) await clock.sleep(firstMs, AbortSignal.any([signal, wait.signal]));
      while (!signal.aborted) {
        wait = new AbortController();
        await round(signal);
        await clock.sleep(typeof ms === 'number' ? ms : ms(), AbortSignal.any([signal, wait.signal]));
      }
    },
  };
}
