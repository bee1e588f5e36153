import { Fault, type Instant, isSameName } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import {
  clearStamps,
  type Database,
  migrate,
  runLaterTransaction,
  runTransaction,
  toPendingDir,
} from '../state/index.ts';
import { openExpiry } from './expiry.ts';
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
import { INBOX_SCHEMA } from './schema.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from './seals.ts';
import { MOST_COUNTED, sumByPriority } from './tally.ts';

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
        throw new Fault('internal', `item ${known.id} has the key ${dedupKey} and says something else`, ITEMS);
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
    pending(persona, session) {
      const now = nowMs();
      const tallies = [...sql.tally.all(persona, now, null), ...sql.tallyToAll.all(persona, now)];
      if (session !== null) tallies.push(...sql.tally.all(persona, now, session));
      tallies.push(...sql.tallyOfNobodyYet.all(persona, now));
      return sumByPriority(tallies);
    },
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
