import type { Board } from '../../core/board/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import type { Outbox } from '../../core/sinks/outbox/index.ts';
import type { Machine } from './machine.node.ts';

interface RestNeeds {
  readonly outbox: Pick<Outbox<never>, 'onDelivered'>;
  readonly board: Pick<Board, 'facts'>;
}

/** After this time without an event, the process is at rest. */
const REST_AFTER_MS = 1000;
/** Polls and counts of this many personas leave as much garbage as a storm of events. */
const CROWD = 1000;
/** What polls leave is cleared away at most this often. To do it each minute would cost more than the polls of 5,000 personas. */
const CROWD_EVERY_MS = 600_000;

/**
 * Returns what to call with each piece of work for a persona, those of the start too. With every thousand it limits the memory that
 * they take; the service gives it back.
 */
export function createStormLimit({ inStorm }: Machine): (count: number) => void {
  let sum = 0;
  return (count) => {
    sum += count;
    if (sum < CROWD) return;
    sum = 0;
    inStorm();
  };
}

/** Gives back the memory that a storm of events took, or many polls, once they are over. */
export function createRestService({ outbox, board }: RestNeeds, { clock, atRest }: Machine): Service {
  return {
    name: 'memory',
    async run(signal) {
      let timer = clock.after(REST_AFTER_MS, () => atRest());
      let crowdTimer: Disposable | null = null;
      let polled = 0;
      let againAt = Number.NEGATIVE_INFINITY;
      using _events = outbox.onDelivered(() => {
        timer[Symbol.dispose]();
        timer = clock.after(REST_AFTER_MS, () => atRest());
      });
      using _facts = board.facts((fact) => {
        if (fact.is === 'polled') polled += 1;
        else if (fact.is === 'counted') polled += fact.counts.length;
        if (polled < CROWD || crowdTimer !== null || clock.monotonic() < againAt) return;
        polled = 0;
        againAt = clock.monotonic() + CROWD_EVERY_MS;
        crowdTimer = clock.after(REST_AFTER_MS, () => {
          crowdTimer = null;
          atRest();
        });
      });
      await untilAborted(signal);
      timer[Symbol.dispose]();
      (crowdTimer as Disposable | null)?.[Symbol.dispose]();
    },
  };
}
