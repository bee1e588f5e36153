import type { Clock } from '../ports/index.ts';
import type { PeriodicService } from './every.ts';

export interface OnDemandOptions {
  readonly name: string;
  /** Milliseconds from the first wake to its round. Further wakes in that time belong to the same round. */
  readonly gatherMs: number;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Creates a service that runs `round` after a wake, and once after each start. A wake during a round leads to one more
 * round. A round that throws ends the service; its supervisor restarts it.
 */
export function onDemand({ name, gatherMs, round, clock }: OnDemandOptions): PeriodicService {
  let woken = Promise.withResolvers<void>();
  return {
    name,
    wake: () => woken.resolve(),
    async run(signal) {
      signal.addEventListener('abort', () => woken.resolve(), { once: true });
      woken.resolve();
      while (!signal.aborted) {
        await woken.promise;
        await clock.sleep(gatherMs, signal);
        if (signal.aborted) return;
        woken = Promise.withResolvers();
        await round(signal);
      }
    },
  };
}
