import type { Clock } from '../ports/index.ts';
import type { PeriodicService } from './every.ts';

export interface OnDemandOptions {
  readonly name: string;
  /** Milliseconds from the first wake to its round; what comes meanwhile is the same round. */
  readonly gatherMs: number;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Runs `round` when it was woken, and once after each start. A wake during a round leads to one more. A round that throws ends the
 * service, for its supervisor to mend.
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
