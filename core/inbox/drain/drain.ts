import { Fault } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Item, Items, Lease, Priority } from '../item.ts';
import { MOST_COUNTED } from '../query.ts';
import { render } from './render.ts';

/** Beyond this number only items of priority 0 are added to a drain: contract 3.7. */
export const MOST_ITEMS = 20;
/** How long a drain may take to write its leased items, in milliseconds: contract 3.9. */
export const LEASE_MS = 30_000;

/**
 * Moves the queue files of a persona and session (null: any) into the store: contract 3.2 to 3.4.
 * @throws Fault if that is not possible now; nothing is lost
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
  /** The harness's id of the session that will read the text; null: items for a certain session are left out. */
  readonly session: string | null;
  /** Only items of this priority or more urgent; 4 means all. */
  readonly upTo: Priority;
  /** Beyond this number only items of priority 0 are added; default `MOST_ITEMS`. */
  readonly most?: number;
  /** Items that would make their JSON much longer than this stay pending, but there is at least one; default: no limit. */
  readonly mostChars?: number;
}

/** Items leased to this caller for `LEASE_MS`, until it says which were shown. If the caller dies, the next one gets them. */
export interface DrainLease {
  readonly items: readonly Item[];
  /** Pending items outside the lease. */
  readonly left: number;
  /**
   * Marks these items as written to where the agent reads; the rest is pending again. Never throws. An item that cannot be marked
   * is logged and comes again, since each item is shown at least once.
   */
  commit(shownItems: readonly Item[]): void;
  /** Ends the lease if nothing was written: all items are pending again. Never throws. Of the two calls only the first counts. */
  release(): void;
}

/** The lease as text: call `commit` after the whole text was written, `release` if that failed. */
export interface DrainText extends Omit<DrainLease, 'commit'> {
  readonly text: string;
  commit(): void;
}

/**
 * Leases the pending items of a persona (contract 3.2 to 3.9); null if there are none. Queue files that cannot be taken over now
 * are logged.
 * @throws Fault `database` or `no-space`
 */
export function lend(
  { items, takeOver, log }: DrainNeeds,
  { persona, session, upTo, most = MOST_ITEMS, mostChars }: DrainRequest,
): DrainLease | null {
  try {
    takeOver?.(persona, session);
  } catch (error) {
    // A locked store cannot lease either, and the session has already waited for it.
    if (error instanceof Fault && error.code === 'database') throw error;
    log.warn(`queued items wait for the next drain: ${formatError(error)}`);
  }
  const lease = items.lease({ persona, session, upTo, most, forMs: LEASE_MS });
  return lease.items.length === 0
    ? null
    : createDrainLease(items, mostChars === undefined ? lease : shorten(items, lease, mostChars), log);
}

/** Gives back what does not fit. @throws Fault `database` or `no-space` */
function shorten(items: Items, lease: Lease, mostChars: number): Lease {
  const fitting = selectFitting(lease.items, mostChars);
  if (fitting.length === lease.items.length) return lease;
  const rest = lease.items.slice(fitting.length);
  items.release({ ...lease, items: rest });
  return { ...lease, items: fitting, left: Math.min(lease.left + rest.length, MOST_COUNTED) };
}

/** About how long the JSON of an item is without its text. */
const FIELDS_CHARS = 300;

/** Returns the first items whose JSON has about `mostChars` characters, and at least one. */
export function selectFitting(items: readonly Item[], mostChars: number): readonly Item[] {
  let room = mostChars;
  const end = items.findIndex(({ content }, i) => {
    room -= content.length + FIELDS_CHARS;
    return room < 0 && i > 0;
  });
  return end < 0 ? items : items.slice(0, end);
}

/**
 * The pending items of a persona as the text for its agent, within `room` characters; null if there are none.
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
