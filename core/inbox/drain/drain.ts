import { Fault } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Item, Items, Lease, Priority } from '../item.ts';
import { render } from './render.ts';

/** Beyond so many only items of priority 0 go with one drain: contract 3.7. */
export const MOST_ITEMS = 20;
/** How long a drain has to write what it was lent, in milliseconds: contract 3.9. */
export const LEASE_MS = 30_000;

/**
 * Puts what lies in the queue files of a persona and session (null: of any) into the store: contract 3.2 to 3.4.
 * @throws Fault when that cannot be done now; nothing is lost by it
 */
export type TakeOver = (persona: string, session: string | null) => void;

export interface DrainNeeds {
  readonly items: Items;
  /** Null: there are no queue files. */
  readonly takeOver: TakeOver | null;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DrainRequest {
  readonly persona: string;
  /** The harness's id of the session that will read it; null: items for a certain session stay where they are. */
  readonly session: string | null;
  /** Only items this urgent or more; 4 is all of them. */
  readonly upTo: Priority;
  /** Beyond so many only items of priority 0 go; `MOST_ITEMS` unless it is said. */
  readonly most?: number;
}

/** Items that are this caller's for `LEASE_MS`, until it says which were shown. A caller that dies shows them to the next. */
export interface DrainLease {
  readonly items: readonly Item[];
  /** Pending items that are not among them. */
  readonly left: number;
  /**
   * These were written to where the agent reads; the rest is pending again. Never throws: what cannot be marked is a line
   * in the log and comes again, since it is shown at least once.
   */
  commit(shownItems: readonly Item[]): void;
  /** Nothing was written: all of them are pending again. Never throws. Only the first of the two calls counts. */
  release(): void;
}

/** The same as text: `commit` once it was written whole, `release` when that failed. */
export interface DrainText extends Omit<DrainLease, 'commit'> {
  readonly text: string;
  commit(): void;
}

/**
 * The pending items of a persona, lent (contract 3.2 to 3.9); null when there are none. Queue files that cannot be taken
 * over now are a line in the log.
 * @throws Fault `database` or `no-space`
 */
export function lend(
  { items, takeOver, log }: DrainNeeds,
  { persona, session, upTo, most = MOST_ITEMS }: DrainRequest,
): DrainLease | null {
  try {
    takeOver?.(persona, session);
  } catch (error) {
    // A store that is locked will not lend either, and the session has waited for it already.
    if (error instanceof Fault && error.code === 'database') throw error;
    log.warn(`queued items wait for the next drain: ${formatError(error)}`);
  }
  const lease = items.lease({ persona, session, upTo, most, forMs: LEASE_MS });
  return lease.items.length === 0 ? null : createDrainLease(items, lease, log);
}

/**
 * The pending items of a persona as the text an agent reads, within `room` characters; null when there are none.
 * @throws Fault `database` or `no-space`
 */
export function drain(needs: DrainNeeds, request: DrainRequest & { readonly room: number }): DrainText | null {
  const lent = lend(needs, request);
  if (lent === null) return null;
  const { persona, room } = request;
  try {
    const { text, shownItems } = render(lent.items, { persona, room, now: needs.clock.now(), left: lent.left });
    const left = lent.left + lent.items.length - shownItems.length;
    return { text, items: shownItems, left, commit: () => lent.commit(shownItems), release: lent.release };
  } catch (error) {
    lent.release();
    throw error;
  }
}

function createDrainLease(items: Items, lease: Lease, log: Log): DrainLease {
  let isOver = false;
  const once = (failed: string, end: () => void): void => {
    if (isOver) return;
    isOver = true;
    try {
      end();
    } catch (error) {
      log.warn(`${failed}: ${formatError(error)}`);
    }
  };
  return {
    items: lease.items,
    left: lease.left,
    commit: (shownItems) =>
      once('what was shown will be shown again', () =>
        items.markDelivered(
          lease,
          shownItems.map(({ id }) => id),
        ),
      ),
    release: () => once(`what was not shown waits ${LEASE_MS / 1000} s`, () => items.release(lease)),
  };
}

const formatError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
