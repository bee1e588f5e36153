import { formatIso, type Instant } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Database } from '../../state/index.ts';
import { type DrainLease, lend } from '../drain/index.ts';
import type { Item } from '../item.ts';
import type { LocalHive } from '../local-hive.ts';
import { prepareSignalStatements, type StandRow } from './statements.ts';

/** The answer to a peek (persona daemon, contract 2): no ids, no content. */
export interface PendingSignals {
  /** The revision of the address. It rises with every change, also across restarts, and never goes back. */
  readonly rev: number;
  /** Items for any session that are neither read nor expired; 10,000 stands for as many or more. */
  readonly count: number;
  /** ISO 8601; null: nothing is pending. */
  readonly oldest_at: string | null;
}

/** Items leased to one caller until it says whether they were handed over; see `DrainLease`. */
export interface SignalLease extends Pick<DrainLease, 'release'> {
  /** The revision from which the items were taken. */
  readonly rev: number;
  readonly items: readonly Item[];
  /** Items for any session that are pending outside the lease. */
  readonly remaining: number;
  /** All items were handed over. Never throws. */
  commit(): void;
}

/** A change of an address, as its daemon is notified of it. */
export type SignalChange =
  | { readonly is: 'pending_changed'; readonly rev: number }
  | { readonly is: 'drained'; readonly rev: number; readonly remaining: number };

/**
 * The local hive as the upstream of persona daemons (persona daemon, contract 2). Every method that touches the database throws
 * Fault `database` or `no-space` if that fails.
 */
export interface Signals extends Disposable {
  /** Creates the persona of this address, so that it also gets broadcasts. */
  appear(address: string): void;
  pending(address: string): PendingSignals;
  /**
   * Leases pending items to one caller, the most urgent first: at most `most`, and no more than fit into one answer. With a
   * session, items for that session alone are included.
   */
  lend(address: string, request: { readonly most: number; readonly session: string | null }): SignalLease;
  /**
   * Reports changes from now on, in the same event-loop turn as the hive. If a session was shown an item, or somebody read it, in
   * any process, the change is `drained`. An expired item is no drain.
   */
  listen(address: string, tell: (change: SignalChange) => void): Disposable;
}

export interface SignalsOptions {
  readonly db: Database;
  readonly local: Pick<LocalHive, 'hints' | 'items'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The most characters of the texts of one drain, unless it is a single item. */
const ROOM = 1024 * 1024;

/** The last known state of an address with listeners. */
interface AddressState {
  stand: StandRow;
  at: Instant;
  /** Ids that a drain takes next. */
  front: readonly number[];
  readonly listeners: Set<{ readonly tell: (change: SignalChange) => void }>;
}

const NOTHING: StandRow = { rev: 0, unread: 0, last: 0 };

export function openSignals({ db, local, clock, log }: SignalsOptions): Signals {
  const sql = prepareSignalStatements(db);
  const addressStates = new Map<string, AddressState>();

  const nowMs = (): Instant => Math.floor(clock.now());
  const readStand = (address: string): StandRow => sql.stand.get(address) ?? NOTHING;
  const readFront = (address: string): readonly number[] => sql.front.all(address, nowMs()).map(({ id }) => id);

  function pending(address: string): PendingSignals {
    const { rev, count, oldest } = sql.pending.get(address, nowMs()) ?? { rev: 0, count: 0, oldest: null };
    return { rev, count, oldest_at: oldest === null ? null : formatIso(oldest) };
  }

  /** The cost does not depend on how much is pending, because every sender waits for this. */
  function findChanges(address: string, before: AddressState): readonly SignalChange[] {
    const { stand, at, front } = before;
    const now = readStand(address);
    if (now.rev === stand.rev) return [];
    const came = sql.came.get(address, stand.last)?.n ?? 0;
    const isLess = now.unread < stand.unread + came;
    before.stand = now;
    before.at = nowMs();
    const wasDrained = isLess && sql.anyRead.get(address, JSON.stringify(front), stand.last, at)?.any === 1;
    if (isLess || front.length === 0) before.front = readFront(address);
    const { rev } = now;
    const drained: SignalChange[] = wasDrained ? [{ is: 'drained', rev, remaining: pending(address).count }] : [];
    return came > 0 || !wasDrained ? [...drained, { is: 'pending_changed', rev }] : drained;
  }

  const hints = local.hints((address) => {
    const addressState = addressStates.get(address);
    if (addressState === undefined) return;
    for (const change of findChanges(address, addressState)) {
      for (const { tell } of addressState.listeners) {
        try {
          tell(change);
        } catch (error) {
          log.error('a listener of the signals failed', { address, error: String(error) });
        }
      }
    }
  }, 'first');

  return {
    appear: (address) => void sql.appear.run(address, nowMs()),
    pending,
    lend(address, { most, session }) {
      const { rev, count } = pending(address);
      const lent = lend(
        { items: local.items, takeOver: null, clock, log },
        { persona: address, session, upTo: 4, most },
      );
      if (lent === null) return { rev, items: [], remaining: count, commit: () => {}, release: () => {} };
      const items = selectFitting(lent.items.slice(0, most)); // items of priority 0 are leased beyond `most`
      const remaining = Math.max(0, count - items.filter((item) => item.session === null).length);
      return { rev, items, remaining, commit: () => lent.commit(items), release: lent.release };
    },
    listen(address, tell) {
      const listener = { tell };
      const addressState = addressStates.get(address) ?? {
        ...{ stand: readStand(address), at: nowMs(), front: readFront(address) },
        listeners: new Set(),
      };
      addressState.listeners.add(listener);
      addressStates.set(address, addressState);
      return {
        [Symbol.dispose]() {
          addressState.listeners.delete(listener);
          if (addressState.listeners.size === 0 && addressStates.get(address) === addressState)
            addressStates.delete(address);
        },
      };
    },
    [Symbol.dispose]() {
      hints[Symbol.dispose]();
      addressStates.clear();
    },
  };
}

function selectFitting(items: readonly Item[]): readonly Item[] {
  let room = ROOM;
  const end = items.findIndex(({ content }, i) => {
    room -= content.length;
    return room < 0 && i > 0;
  });
  return end < 0 ? items : items.slice(0, end);
}
