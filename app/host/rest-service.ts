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
/**
 * What single events and polls leave is cleared away at most this often. To do it each minute would cost more than the polls of
 * 5,000 personas.
 */
const TIDY_EVERY_MS = 300_000;
/** So many events without a rest between them are a burst. */
const BURST = 20;

/** Counts work, so that a burst gets the memory that it needs, and a storm no more than that. */
export interface WorkMeter {
  /** Work for so many personas, that of the start too. With every thousand it limits the memory that they take. */
  countWork(count: number): void;
  /** A batch for the event files. One without events only saves the state of a persona, and no rest follows it. */
  countBatch(events: number): void;
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
    countBatch(count) {
      const before = events;
      events += count;
      if (before < BURST && events >= BURST) inBurst();
      countWork(1);
    },
    rest() {
      events = 0;
      atRest();
    },
  };
}

/** Gives back the memory that a storm of events took once it is over, and now and then what single events and many polls left. */
export function createRestService({ outbox, board, work }: RestNeeds, { clock, tidy }: Machine): Service {
  return {
    name: 'memory',
    async run(signal) {
      let restTimer: Disposable | null = null;
      let tidyTimer: Disposable | null = null;
      let polled = 0;
      let tidyAt = Number.NEGATIVE_INFINITY;
      const tidyLater = (): void => {
        tidyTimer ??= clock.after(Math.max(REST_AFTER_MS, tidyAt - clock.monotonic()), () => {
          tidyTimer = null;
          if (restTimer !== null) return; // the rest that follows comes back here
          tidyAt = clock.monotonic() + TIDY_EVERY_MS;
          work.rest();
          tidy();
        });
      };
      const restLater = (): void => {
        restTimer?.[Symbol.dispose]();
        restTimer = clock.after(REST_AFTER_MS, () => {
          restTimer = null;
          work.rest();
          tidyLater();
        });
      };
      restLater();
      using _events = outbox.onDelivered(restLater);
      using _facts = board.facts((fact) => {
        if (fact.is === 'polled') polled += 1;
        else if (fact.is === 'counted') polled += fact.counts.length;
        if (polled < CROWD) return;
        polled = 0;
        tidyLater();
      });
      await untilAborted(signal);
      (restTimer as Disposable | null)?.[Symbol.dispose]();
      (tidyTimer as Disposable | null)?.[Symbol.dispose]();
    },
  };
}
