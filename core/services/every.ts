import type { Clock } from '../ports/index.ts';
import type { Service } from './service.ts';

/** A service that does the same again and again. */
export interface PeriodicService extends Service {
  /** Ends the present wait: the next round begins as soon as the one that runs is over. */
  wake(): void;
}

export interface PeriodicOptions {
  readonly name: string;
  /** Milliseconds from the end of a round to the next one; asked after each round where it is a function. */
  readonly ms: number | (() => number);
  /** Milliseconds to the first round; 0, the default: it is run at once, in the turn in which the service is started. */
  readonly firstMs?: number;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Runs `round`, and again `ms` after each time it ended. A round that throws ends the service, for its supervisor to mend. */
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
