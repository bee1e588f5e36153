import { Fault, type Instant, isSameName } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import {
  clearStamps,
  type Database,
  migrate,
  openDeletionLimit,
  ringWaiters,
  runLaterTransaction,
  runTransaction,
  toPendingDir,
  toWaitersDir,
} from '../state/index.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from './continuity.ts';
import {
  type Item,
  type ItemOrigin,
  type Items,
  type Lease,
  type NewItem,
  OWN_KEYS,
  type Priority,
  type PushResult,
} from './item.ts';
import { type ItemRow, prepareItemStatements, toPushedFields } from './item-statements.ts';
import { checkItem } from './new-item.ts';
import { MOST_COUNTED, sumByPriority } from './query.ts';
import { INBOX_SCHEMA } from './schema.ts';

export interface ItemsOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Called after each commit that may have changed what is unread, for a display in the same process. */
  readonly changed?: () => void;
}

const ITEMS = { is: 'machine', key: 'inbox' } as const;
/** How many expired items a drain deletes on its way. The tray process deletes the rest. */
const SWEPT_AT_ONCE = 200;

/**
 * Opens the items of the local hive in its database. A process that has a `LocalHive` uses its `items` instead. Several processes
 * may have the database open at once. The caller keeps `db` open as long as the items are used.
 *
 * @throws Fault `database` or `no-space`, as every method does.
 */
export function openItems({ db, clock, changed = () => {} }: ItemsOptions): Items {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const sql = prepareItemStatements(db);
  const seals = openSeals(db);
  const expiry = openExpiry(db);

  const nowMs = (): Instant => Math.floor(clock.now());

  function pushOne(item: NewItem, now: Instant, origin: ItemOrigin | null): PushResult {
    const { to, type, source, content, priority, session, created, expires, dedupKey } = item;
    const name = to.is === 'persona' ? to.name : '';
    for (const known of dedupKey === null ? [] : sql.byKey.all(name, dedupKey, now)) {
      if (known.is_over === 1) {
        if (known.persona === name) sql.freeKey.run(known.id);
      } else if (origin !== null && (known.origin !== origin || known.content !== content)) {
        throw new Fault('internal', `item ${known.id} already has the key ${dedupKey}, with different content`, ITEMS);
      } else return { id: known.id, dedupKey: dedupKey ?? '', isNew: false };
    }
    // Uses our clock, not the item's time: this time decides which broadcasts a new persona still gets.
    if (to.is === 'persona') sql.appear.run(name, now);
    // A message to oneself is known to its reader: it neither waits nor wakes, see LocalHive.
    const readAt = origin === null && isSameName(source, name) ? now : null;
    const row = sql.insert.get(
      ...[name, type, source, priority, session, created, expires, readAt, dedupKey, content, origin],
    );
    if (row === undefined) throw new Error('an insert returned nothing');
    if (to.is === 'everyone') {
      for (const { persona } of sql.selectAcks.all(row.id))
        if (isSameName(source, persona)) sql.readAck.run(now, row.id, persona);
    }
    seals.seal(row.id);
    return { id: row.id, dedupKey: row.dedup_key, isNew: true };
  }

  function toItem(row: ItemRow, persona: string): Item {
    const fields = toPushedFields(row);
    return {
      id: row.id,
      persona,
      ...fields,
      ...(seals.isWhole(row.id) ? {} : { source: DAMAGED_FROM, content: formatDamaged(row.id), origin: null }),
      isBroadcast: row.broadcast === 1,
      read: row.read_at,
      delivered: row.delivered_at,
    };
  }

  function store(items: readonly NewItem[], origin: ItemOrigin | null): readonly PushResult[] {
    const now = nowMs();
    const pushed = runTransaction(db, () => {
      const results = items.map((item) => pushOne(item, now, origin));
      clearStamps(toPendingDir(db.path), listAddressees(items));
      ringWaiters(toWaitersDir(db.path), listAddressees(items));
      return results;
    });
    changed();
    return pushed;
  }

  /** The next items: the persona's own for any session and for this one, and the broadcasts. */
  function next(
    persona: string,
    session: string | null,
    from: Priority,
    to: Priority,
    most: number,
    now: Instant,
  ): ItemRow[] {
    const rows = sql.next.all(persona, now, null, from, to, most);
    if (session !== null) rows.push(...sql.next.all(persona, now, session, from, to, most));
    rows.push(...sql.nextToAll.all(persona, now, from, to, most));
    rows.sort((a, b) => a.priority - b.priority || a.created - b.created || a.id - b.id);
    return most < 0 ? rows : rows.slice(0, most);
  }

  function left(persona: string, session: string | null, now: Instant): number {
    let n = sql.left.get(persona, now, null, MOST_COUNTED)?.n ?? 0;
    if (session !== null) n += sql.left.get(persona, now, session, MOST_COUNTED)?.n ?? 0;
    n += sql.leftToAll.get(persona, now, MOST_COUNTED)?.n ?? 0;
    return Math.min(n, MOST_COUNTED);
  }

  /** Ends a lease. Items that were not shown are pending again, unless the lease lapsed and another caller has them by now. */
  function endLease({ id, persona, items }: Lease, shownIds: ReadonlySet<number>): void {
    if (items.length === 0) return;
    const now = nowMs();
    runLaterTransaction(db, () => {
      for (const item of items) {
        const table = item.isBroadcast ? 'toAll' : 'own';
        if (shownIds.has(item.id)) sql.deliver[table].run(persona, item.id, now);
        else sql.free[table].run(persona, item.id, id);
      }
      if (shownIds.size > 0) sql.noteDrain.run(now, persona);
    });
    if (shownIds.size > 0) changed();
  }

  return {
    push(items) {
      const checked = items.map(checkItem);
      return checked.length === 0 ? [] : store(checked, null);
    },
    pushOwn({ persona, key, ...fields }) {
      const item = { ...fields, to: { is: 'persona', name: persona }, dedupKey: null } as const;
      const [pushed] = store([{ ...checkItem(item), dedupKey: `${OWN_KEYS}${key}` }], 'hivebar');
      return pushed as PushResult;
    },
    list: (persona, which, limit) =>
      sql.list[which]
        .all(persona, nowMs(), limit)
        .reverse()
        .map((row) => toItem(row, persona)),
    find(persona, id) {
      const row = sql.byId.get(persona, id);
      return row === undefined ? null : toItem(row, persona);
    },
    pending(persona, session) {
      const now = nowMs();
      const tallies = [...sql.tally.all(persona, now, null), ...sql.tallyToAll.all(persona, now)];
      if (session !== null) tallies.push(...sql.tally.all(persona, now, session));
      tallies.push(...sql.tallyOfNobodyYet.all(persona, now));
      return sumByPriority(tallies);
    },
    shownAt: (persona) => sql.drainedAt.get(persona)?.drained_at ?? null,
    lease({ persona, session, upTo, most, forMs }) {
      const now = nowMs();
      const lease = runLaterTransaction(db, () => {
        if (expiry.isDue(now)) expiry.sweep(now, SWEPT_AT_ONCE);
        if (sql.anyForNobodyYet.get(persona, now)?.any === 1) sql.appear.run(persona, now);
        const rows = next(persona, session, 0, 0, -1, now);
        const room = most - rows.length;
        if (upTo > 0 && room > 0) rows.push(...next(persona, session, 1, upTo, room, now));
        const id = sql.newLease.get()?.id ?? '';
        for (const row of rows) sql.claim[row.broadcast === 1 ? 'toAll' : 'own'].run(persona, row.id, id, now + forMs);
        return { id, persona, items: rows.map((row) => toItem(row, persona)), left: left(persona, session, now) };
      });
      changed();
      return lease;
    },
    markDelivered: (lease, shownIds) => endLease(lease, new Set(shownIds)),
    release: (lease) => endLease(lease, new Set()),
    awaitedSessions: () => sql.awaited.all(),
    endSession(persona, session) {
      const count = runLaterTransaction(db, () => {
        const waiting = sql.waitingFor.all(persona, session);
        for (const { id } of waiting) {
          const isWhole = seals.isWhole(id); // a damaged message must not get a valid checksum here
          sql.forAnySession.run(id);
          if (isWhole) seals.seal(id);
        }
        if (waiting.length > 0) {
          sql.touch.run(persona);
          clearStamps(toPendingDir(db.path), [persona]);
          ringWaiters(toWaitersDir(db.path), [persona]);
        }
        return waiting.length;
      });
      if (count > 0) changed();
      return count;
    },
  };
}

/** The personas that these items are for. */
function listAddressees(items: readonly NewItem[]): readonly string[] | 'everyone' {
  const names = items.flatMap(({ to }) => (to.is === 'persona' ? [to.name] : []));
  return names.length < items.length ? 'everyone' : names;
}

/** Deletes expired items. Each call is part of the caller's transaction and deletes at most `most` rows. */
interface Expiry {
  /** Whether `sweep` has anything to delete. Costs next to nothing. */
  isDue(now: Instant): boolean;
  /** Deletes expired items that nobody read, so that they no longer count as unread. Leased items stay until the lease ends. */
  sweep(now: Instant, most: number): void;
  /** What `reap` would delete now; null: nothing. */
  reapable(now: Instant, olderThan: Instant): Reapable | null;
  /**
   * Deletes mail created before `olderThan`. Items with an expiry are deleted a day after delivery, or at expiry if not
   * delivered.
   */
  reap(now: Instant, olderThan: Instant, most: number): { readonly items: number; readonly more: boolean };
}

export interface Reapable {
  readonly count: number;
  /** How many of them are unread. */
  readonly unread: number;
  /** When the oldest and the newest of them were created. */
  readonly oldest: Instant;
  readonly newest: Instant;
}

/** How long an item that has an expiry is kept after its delivery, in milliseconds. */
const DELIVERED_RETENTION_MS = 86_400_000;

export function openExpiry(db: Database): Expiry {
  const due = 'expires_at <= ?1 AND read_at IS NULL AND (leased_until IS NULL OR leased_until <= ?1)';
  const over = `expires_at IS NOT NULL AND (delivered_at <= ?1 - ${DELIVERED_RETENTION_MS} OR
    (delivered_at IS NULL AND expires_at <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)))`;
  const dueItems = `FROM inbox WHERE persona <> '' AND ${due}`;
  const dueAcks = `FROM broadcast_acks WHERE ${due}`;
  const isDue = db.prepare<{ due: number }>(
    `SELECT EXISTS (SELECT 1 ${dueItems}) OR EXISTS (SELECT 1 ${dueAcks}) AS due`,
  );
  const sweepItems = db.prepare(`DELETE FROM inbox WHERE seq IN (SELECT seq ${dueItems} LIMIT ?2)`);
  const acks = (which: string) =>
    db.prepare(`DELETE FROM broadcast_acks WHERE (persona, seq) IN (SELECT persona, seq ${which} LIMIT ?2)`);
  const sweepAcks = acks(dueAcks);
  const reapAcks = acks(`FROM broadcast_acks WHERE ${over}`);
  const reapableItems = `FROM inbox WHERE created < ?3 OR (persona <> '' AND ${over})
      OR (persona = '' AND expires_at <= ?1 AND NOT EXISTS (SELECT 1 FROM broadcast_acks AS a WHERE a.seq = inbox.seq))`;
  const reapItems = db.prepare(`DELETE FROM inbox WHERE seq IN (SELECT seq ${reapableItems} LIMIT ?2)`);
  const reapable = db.prepare<{ count: number; unread: number; oldest: number; newest: number }>(`
    SELECT count(*) AS count, min(created) AS oldest, max(created) AS newest, coalesce(sum(CASE WHEN persona = ''
      THEN EXISTS (SELECT 1 FROM broadcast_acks AS a WHERE a.seq = inbox.seq AND a.read_at IS NULL)
      ELSE read_at IS NULL END), 0) AS unread
    ${reapableItems.replaceAll('?3', '?2')}`);
  return {
    isDue: (now) => isDue.get(now)?.due === 1,
    sweep(now, most) {
      sweepItems.run(now, most);
      sweepAcks.run(now, most);
    },
    reapable(now, olderThan) {
      const summary = reapable.get(now, olderThan);
      return summary === undefined || summary.count === 0 ? null : summary;
    },
    reap(now, olderThan, most) {
      const acks = reapAcks.run(now, most).changes;
      const items = reapItems.run(now, most, olderThan).changes;
      return { items, more: acks === most || items === most };
    },
  };
}

/** Items deleted per transaction, so that no writer waits long. */
const SWEPT_AT_START = 1000;

/**
 * Creates a function that deletes everything `sweep` can delete. A failure is logged once and retried at the next call: it must
 * not keep anybody from reading the rest.
 */
export function createSweeper(db: Database, expiry: Expiry, clock: Clock, log: Log): () => void {
  let failed = false;
  const limit = openDeletionLimit(db);
  return () => {
    const now = limit(Math.floor(clock.now()));
    try {
      while (expiry.isDue(now)) runLaterTransaction(db, () => expiry.sweep(now, SWEPT_AT_START));
      failed = false;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (!failed) log.warn(`expired mail could not be deleted: ${error.explain()}`);
      failed = true;
    }
  };
}
