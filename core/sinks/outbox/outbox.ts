import { type Event, isMail, stamper } from '../../events/index.ts';
import { Fault, faultOf, type KnownSet, type PersonaId } from '../../model/index.ts';
import type { Clock, Clocks } from '../../ports/index.ts';
import { type Database, type Disk, groupCommit, type Later, migrate } from '../../state/index.ts';
import { EMPTY_TAIL, type Sink, type Taken } from '../sink.ts';
import type { Rotation } from './event-file.ts';
import { type Entry, type EntryEvent, openJournal } from './journal.ts';
import { changeOf, knownTable, type StoredSet } from './known.ts';
import { createPublisher } from './publisher.ts';
import { type Behind, reconcileEventFiles } from './reconcile.ts';
import { type OutboxReader, type OutboxRow, openOutboxReader, publishedRows } from './rows.ts';
import { OUTBOX_SCHEMA } from './schema.ts';
import { sumOfKept } from './sums.ts';
import { createSyncer, type Retention } from './syncer.ts';

export interface OutboxOptions {
  readonly db: Database;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly clocks: Clocks;
  /** Where the event files are; created 0700. */
  readonly directory: string;
  /** The file of what was just taken, absolute; see `Journal`. */
  readonly journal: string;
  /** A persona's event file lacks events because of this; null: it has them all again. The events themselves are safe. */
  readonly onBehind: (persona: PersonaId, fault: Fault | null) => void;
  readonly rotation?: Rotation;
  readonly retention?: Retention;
  /** The time by which a row is too old; absent: the wall clock. */
  readonly retentionNow?: () => number;
  /** When the takes of one turn are committed; see `groupCommit`. */
  readonly later?: Later;
}

/**
 * Where every watch of the tray process hands its events over: a journal and the tables behind it, where
 * they stand as one with what the watch wants remembered. Takes of one turn share a flush; then the event files are written from it, then the followers told, then
 * the takes resolve. An event of mail that the outbox has already is taken again without being stored or told again. Under
 * the key `known` what a watch wants remembered may hold a `KnownSet`, of which only what changed is written.
 */
export interface Outbox<Kept extends object> extends OutboxReader, Disposable {
  /** The one sink of this persona. Its `open` repairs the persona's event file. `stem` names the file. */
  sinkFor(persona: PersonaId, stem: string): Sink<Kept>;
  /** What the watch wanted remembered with its last take, null before the first. @throws Fault `database` */
  kept(persona: PersonaId): Kept | null;
  /** The same for all personas in one query. @throws Fault `database` */
  allKept(): ReadonlyMap<PersonaId, Kept>;
  /** Personas of whom the event file knew more than the database when this opened: the store went back. */
  readonly behind: readonly Behind[];
  /** The highest id of a mail that was told, by persona. */
  newestIds(): ReadonlyMap<PersonaId, number>;
  /** Says an event that no watch offers, without moving what a watch remembers. @throws Fault */
  note(persona: PersonaId, stem: string, event: Event): void;
  /**
   * Calls `listener` with what was just committed, in order of `seq`. To replay and then go on live, subscribe first and
   * leave out of the replay's end, or of the live beginning, what the other has: both carry `seq`.
   */
  onTold(listener: (rows: readonly OutboxRow[]) => void): Disposable;
}

/** The rotation of Kijito contract e. */
export const ROTATION: Rotation = { maxBytes: 5_000_000, keep: 5 };
export const RETENTION: Retention = { keepMs: 7 * 86_400_000, keepRows: 1000 };

interface Take {
  readonly persona: PersonaId;
  readonly events: readonly TakenEvent[];
  readonly kept: string;
  /** All that is remembered of a set, null for a log. */
  readonly known: StoredSet | null;
}

interface TakenEvent {
  readonly id: string;
  /** The id of the mail, or of the one that changed; null for any other event. */
  readonly of: number | null;
  readonly isMail: boolean;
  readonly line: string;
}

const NOTHING_KEPT = 'null';
const ALL: Taken = { is: 'all' };

function stopped(error: unknown): Taken {
  return { is: 'stopped', count: 0, fault: faultOf(error, { is: 'machine', key: 'database' }) };
}

export function openOutbox<Kept extends object>(options: OutboxOptions): Outbox<Kept> {
  const { db, disk, clock, clocks, directory, onBehind } = options;
  migrate(db, 'outbox', OUTBOX_SCHEMA);
  const journal = openJournal({ db, disk, clock, path: options.journal });
  const { fill, hasHole } = journal;
  const behind = reconcileEventFiles({ db, disk, directory, hasHole });
  const reader = openOutboxReader(db, fill);
  const rows = publishedRows(db, fill);
  const { retention = RETENTION, retentionNow } = options;
  const needs = { rows, disk, clock, directory, retention };
  const syncer = createSyncer(retentionNow === undefined ? needs : { ...needs, retentionNow });
  const rotation = options.rotation ?? ROTATION;
  const publisher = createPublisher({ rows, disk, clock, directory, rotation, syncer, onBehind });
  const listeners = new Set<{ tell: (rows: readonly OutboxRow[]) => void }>();
  const keptOf = db.prepare<{ kept: string; sum: number | null }>('SELECT kept, sum FROM watches WHERE persona = ?');
  const keptOfAll = db.prepare<{ persona: string; kept: string; sum: number | null }>(
    'SELECT persona, kept, sum FROM watches',
  );
  const newestOfAll = db.prepare<{ persona: string; newest: number }>('SELECT persona, newest FROM watches');
  const things = knownTable(db);
  const isStored = db.prepare('SELECT 1 FROM outbox WHERE event_id = ? AND persona = ? AND is_mail = 1');
  const group = groupCommit(committed, options.later);
  /** The highest id that was told, by persona: mail above it is new without looking. */
  const newest = new Map(newestOfAll.all().map((row) => [row.persona, row.newest]));
  /** What the tables have of sets, or will have once they are filled. */
  const stored = new Map<PersonaId, StoredSet>();
  let lastSeq = reader.newest()?.seq ?? 0;
  let closed = false;
  /** How the group of takes that gathers now is stamped: the clocks are read once for all of it. */
  let stamp: ((event: Event) => string) | null = null;

  /** The answers to takes, whatever happens to them. */
  function committed(takes: readonly Take[]): readonly Taken[] {
    stamp = null;
    try {
      commit(takes);
      return takes.map(() => ALL);
    } catch (error) {
      const answer = stopped(error);
      return takes.map(() => answer);
    }
  }

  function commit(takes: readonly Take[]): void {
    const { entries, highest, known } = entriesOf(takes);
    journal.write(entries);
    for (const [persona, keys] of known) stored.set(persona, keys);
    for (const [persona, id] of highest) newest.set(persona, id);
    const fresh = entries.flatMap(({ persona, events }) =>
      events.map(({ seq, id, line }) => ({ seq, persona, eventId: id, line })),
    );
    lastSeq = fresh.at(-1)?.seq ?? lastSeq;
    publisher.publish(fresh);
    if (fresh.length > 0) for (const listener of listeners) tell(listener.tell, fresh);
  }

  /** What of these takes is to be stored: everything but mail that was told already. */
  function entriesOf(takes: readonly Take[]) {
    const at = Math.floor(clock.now());
    const entries: Entry[] = [];
    const highest = new Map<PersonaId, number>();
    const known = new Map<PersonaId, StoredSet>();
    let seq = lastSeq;
    for (const { persona, events, kept, known: keys } of takes) {
      let most = highest.get(persona) ?? newest.get(persona) ?? 0;
      const fresh: EntryEvent[] = [];
      for (const { id, of, isMail, line } of events) {
        if (isMail && (of ?? 0) <= most && isTold(persona, id, entries, fresh)) continue;
        most = Math.max(most, of ?? 0);
        seq += 1;
        fresh.push({ seq, id, isMail, line });
      }
      highest.set(persona, most);
      const change = keys === null ? null : changeOf(known.get(persona) ?? storedOf(persona), keys);
      if (keys !== null) known.set(persona, keys);
      entries.push({ persona, kept, newest: most, at, events: fresh, ...(change === null ? {} : { known: change }) });
    }
    return { entries, highest, known };
  }

  function storedOf(persona: PersonaId): StoredSet {
    const known = stored.get(persona);
    if (known !== undefined) return known;
    fill();
    const read = things.of(persona);
    stored.set(persona, read);
    return read;
  }

  function isTold(persona: PersonaId, id: string, entries: readonly Entry[], fresh: readonly EntryEvent[]): boolean {
    fill();
    const isId = (event: EntryEvent): boolean => event.id === id;
    const isHere = fresh.some(isId) || entries.some((entry) => entry.persona === persona && entry.events.some(isId));
    return isHere || isStored.get(id, persona) !== undefined;
  }

  function tell(listener: (rows: readonly OutboxRow[]) => void, fresh: readonly OutboxRow[]): void {
    try {
      listener(fresh);
    } catch (error) {
      // The events are committed: a listener's mistake must not make the watch offer them again.
      disk.log.error('a follower of the outbox failed', { error: String(error) });
    }
  }

  function take(persona: PersonaId, stem: string, events: readonly Event[], kept: Kept): Promise<Taken> {
    try {
      publisher.adopt(persona, stem);
      if (closed) throw new Fault('internal', 'the outbox is closed', { is: 'machine', key: 'database' });
      stamp ??= stamper(clocks.read());
      const textOf = stamp;
      const taken = events.map((event) => ({
        id: event.event_id,
        of: 'id' in event ? event.id : null,
        isMail: isMail(event),
        line: textOf(event),
      }));
      const { known } = kept as { readonly known?: KnownSet };
      if (known === undefined) return group.add({ persona, events: taken, kept: JSON.stringify(kept), known: null });
      const { keys, gone, ...set } = known;
      return group.add({
        persona,
        events: taken,
        kept: JSON.stringify({ ...kept, known: set }),
        known: gone === undefined ? { keys } : { keys, gone },
      });
    } catch (error) {
      stamp = null; // its group may never be committed
      return Promise.resolve(stopped(error));
    }
  }

  return {
    ...reader,
    sinkFor: (persona, stem) => ({
      keeps: true,
      // A mark is never older than the events it belongs to, so there is nothing the watch would have to leave out.
      open: async () => {
        publisher.adopt(persona, stem);
        return { ...EMPTY_TAIL, newest: newest.get(persona) ?? 0 };
      },
      take: (events, kept) => take(persona, stem, events, kept),
      [Symbol.asyncDispose]: async () => {},
    }),
    kept(persona) {
      fill();
      const row = keptOf.get(persona);
      return row === undefined ? null : parsed(persona, row);
    },
    allKept() {
      fill();
      const all = keptOfAll.all().map((row) => [row.persona, parsed(row.persona, row)] as const);
      return new Map(all.filter((entry): entry is readonly [string, Kept] => entry[1] !== null));
    },
    behind,
    newestIds: () => newest,
    note(persona, stem, event) {
      publisher.adopt(persona, stem);
      fill();
      const line = stamper(clocks.read())(event);
      const events = [{ id: event.event_id, of: null, isMail: false, line }];
      commit([{ persona, events, kept: keptOf.get(persona)?.kept ?? NOTHING_KEPT, known: null }]);
    },
    onTold(listener) {
      const entry = { tell: listener };
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
    [Symbol.dispose]() {
      closed = true;
      group.flush();
      listeners.clear();
      publisher[Symbol.dispose]();
      journal[Symbol.dispose]();
    },
  };

  /** Null: it is known what was told, and no watch remembers anything yet. */
  function parsed(persona: PersonaId, { kept: text, sum }: { kept: string; sum: number | null }): Kept | null {
    if (text === NOTHING_KEPT) return null;
    if (sum !== null && sum !== sumOfKept(persona, text)) {
      disk.log.error(`${db.path}: the checkpoint of ${persona} is damaged; it goes on behind what was told last`);
      return null;
    }
    try {
      const kept = JSON.parse(text) as Kept & { readonly known?: KnownSet };
      return kept.known === undefined ? kept : { ...kept, known: { ...kept.known, ...storedOf(persona) } };
    } catch (error) {
      const message = `${db.path}: what the watch of ${persona} remembers can not be read`;
      throw new Fault('database', message, { is: 'machine', key: 'database' }, { cause: error });
    }
  }
}
