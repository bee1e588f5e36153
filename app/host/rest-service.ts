import type { Board } from '../../core/board/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import type { Outbox } from '../../core/sinks/outbox/index.ts';
import type { Machine } from './machine.node.ts';

interface RestNeeds {
  readonly outbox: Pick<Outbox<never>, 'onDelivered'>;
  readonly board: Pick<Board, 'facts'>;
  readonly work: Pick<WorkMeter, 'rest'>;
}

/** After this time without an event, the process is at rest. */
const REST_AFTER_MS = 1000;
/** Polls and counts of this many personas leave as much garbage as a storm of events. */
const CROWD = 1000;
/** What polls leave is cleared away at most this often. To do it each minute would cost more than the polls of 5,000 personas. */
const CROWD_EVERY_MS = 600_000;

/** So many events without a rest between them are a burst. */
const BURST = 20;

/** Counts work, so that a burst gets the memory that it needs, and a storm no more than that. */
export interface WorkMeter {
  /** Work for so many personas, that of the start too. With every thousand it limits the memory that they take. */
  countWork(count: number): void;
  countEvent(): void;
  /** Gives back what a burst took. */
  rest(): void;
}

export function createWorkMeter({ inBurst, inStorm, atRest }: Machine): WorkMeter {
  let sum = 0;
  let events = 0;
  const countWork = (count: number): void => {
    sum += count;
    if (sum < CROWD) return;
    sum = 0;
    inStorm();
  };
  return {
    countWork,
    countEvent() {
      events += 1;
      if (events === BURST) inBurst();
      countWork(1);
    },
    rest() {
      events = 0;
      atRest();
    },
  };
}

/** Gives back the memory that a storm of events took, or many polls, once they are over. */
export function createRestService({ outbox, board, work }: RestNeeds, { clock }: Machine): Service {
  return {
    name: 'memory',
    async run(signal) {
      let timer = clock.after(REST_AFTER_MS, () => work.rest());
      let crowdTimer: Disposable | null = null;
      let polled = 0;
      let againAt = Number.NEGATIVE_INFINITY;
      using _events = outbox.onDelivered(() => {
        timer[Symbol.dispose]();
        timer = clock.after(REST_AFTER_MS, () => work.rest());
      });
      using _facts = board.facts((fact) => {
        if (fact.is === 'polled') polled += 1;
        else if (fact.is === 'counted') polled += fact.counts.length;
        if (polled < CROWD || crowdTimer !== null || clock.monotonic() < againAt) return;
        polled = 0;
        againAt = clock.monotonic() + CROWD_EVERY_MS;
        crowdTimer = clock.after(REST_AFTER_MS, () => {
          crowdTimer = null;
          work.rest();
        });
      });
      await untilAborted(signal);
      timer[Symbol.dispose]();
      (crowdTimer as Disposable | null)?.[Symbol.dispose]();
    },
  };
}
