import { formatIso, type Instant } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Database } from '../../state/index.ts';
import { type DrainLease, lend, selectFitting } from '../drain/index.ts';
import type { Item } from '../item.ts';
import type { LocalHive } from '../local-hive.ts';

/** The answer to a peek (persona daemon, contract 2): no ids, no content. */
interface PendingSignals {
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

interface SignalsOptions {
  readonly db: Database;
  readonly local: Pick<LocalHive, 'hints' | 'items'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The most characters of one drain, unless it is a single item. */
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
      const items = selectFitting(lent.items.slice(0, most), ROOM); // items of priority 0 are leased beyond `most`
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

/** The most pending signals that are counted, which bounds the cost of a peek. */
const MOST_SIGNALS = 10_000;
/** How many ids of the next drain are remembered, for an address with listeners. */
const FRONT = 32;
/** How many of the newest messages of an address are searched for one that was read. */
const RECENT = 1000;

const WAITS = (stateAlias: 'i' | 'a') =>
  `${stateAlias}.read_at IS NULL AND (${stateAlias}.expires_at IS NULL OR ${stateAlias}.expires_at > ?2)`;

/**
 * Items for any session, including leased ones, because a lease may lapse. Items for one session alone belong to its own hook.
 */
const OWN = `FROM inbox AS i INDEXED BY inbox_pending WHERE i.persona = ?1 AND i.session IS NULL AND ${WAITS('i')}`;
const TO_ALL = `FROM broadcast_acks AS a INDEXED BY broadcast_acks_pending WHERE a.persona = ?1 AND ${WAITS('a')}`;
/** A persona that does not exist yet has every broadcast that has not expired. */
const OF_NOBODY_YET = `FROM inbox AS i WHERE i.persona = '' AND (i.expires_at IS NULL OR i.expires_at > ?2)
  AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)`;

/** The oldest item of each priority is first in its index, and the oldest of all is among them. */
const oldest = (stateAlias: 'i' | 'a', from: string) => `
  (SELECT min((SELECT ${stateAlias}.created ${from} AND ${stateAlias}.priority = p.column1 ORDER BY ${stateAlias}.created LIMIT 1))
    FROM (VALUES (0), (1), (2), (3), (4)) AS p)`;
const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 ${from} LIMIT ${MOST_SIGNALS}))`;

/** The state of an address, as stored in the tables. */
interface StandRow {
  readonly rev: number;
  /** Everything unread, for any session, including expired items that are not deleted yet. */
  readonly unread: number;
  readonly last: number;
}

/** Prepares the statements of the signals. `?1` is the address, and in a peek `?2` is now. */
function prepareSignalStatements(db: Database) {
  const newer = (table: string) => `FROM ${table} WHERE persona = ?1 AND seq > ?2 AND read_at IS NULL`;
  const among = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} WHERE persona = ?1 AND seq IN (SELECT value FROM json_each(?2)) AND read_at IS NOT NULL)`;
  const recently = (table: string) => `EXISTS (SELECT 1 FROM (
    SELECT read_at FROM ${table} WHERE persona = ?1 AND seq <= ?3 ORDER BY seq DESC LIMIT ${RECENT}) WHERE read_at >= ?4)`;
  return {
    appear: db.prepare(`
      INSERT INTO personas (name, created, last_id, rev, unread, urgent)
      VALUES (?, ?, 0, (SELECT coalesce(max(rev), 0) + 1 FROM personas), 0, 0) ON CONFLICT (name) DO NOTHING`),
    /**
     * One statement, so that all values are of the same moment. Otherwise the count after a change could come with the revision
     * before it.
     */
    pending: db.prepare<{ rev: number; count: number; oldest: number | null }>(`
      SELECT coalesce((SELECT rev FROM personas WHERE name = ?1), 0) AS rev,
        min(${MOST_SIGNALS}, ${count(OWN)} + ${count(TO_ALL)} + ${count(OF_NOBODY_YET)}) AS count,
        (SELECT min(column1) FROM (VALUES (${oldest('i', OWN)}), (${oldest('a', TO_ALL)}),
          ((SELECT min(i.created) ${OF_NOBODY_YET})))) AS oldest`),
    stand: db.prepare<StandRow>('SELECT rev, unread, last_id AS last FROM personas WHERE name = ?'),
    /** Unread items that came after an id. */
    came: db.prepare<{ n: number }>(
      `SELECT (SELECT count(*) ${newer('inbox')}) + (SELECT count(*) ${newer('broadcast_acks')}) AS n`,
    ),
    /** The items that a drain takes next. */
    front: db.prepare<{ id: number }>(`
      SELECT seq AS id FROM (
        SELECT i.seq, i.priority, i.created ${OWN} UNION ALL SELECT a.seq, a.priority, a.created ${TO_ALL}
        ORDER BY priority, created, seq LIMIT ${FRONT})`),
    /** Whether one of these ids was read, or one of the newest up to an id since an instant. */
    anyRead: db.prepare<{ any: number }>(`
      SELECT ${among('inbox')} OR ${among('broadcast_acks')} OR ${recently('inbox')} OR ${recently('broadcast_acks')} AS "any"`),
  };
}
