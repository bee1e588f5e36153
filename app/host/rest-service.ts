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
/** A crowd that is polled again and again is cleared away at most this often. */
const CROWD_EVERY_MS = 50_000;
/** A minute in which nothing changes leaves less. To clear that away each minute would cost more than all else. */
const CROWD_BYTES = 48 * 1024 * 1024;

/** Gives back the memory that a storm of events took, or a poll of very many personas, once it is over. */
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
        crowdTimer = clock.after(REST_AFTER_MS, () => {
          crowdTimer = null;
          polled = 0;
          againAt = clock.monotonic() + CROWD_EVERY_MS;
          atRest(CROWD_BYTES);
        });
      });
      await untilAborted(signal);
      timer[Symbol.dispose]();
      (crowdTimer as Disposable | null)?.[Symbol.dispose]();
    },
  };
}
