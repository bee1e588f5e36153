import { createStamper, type Event, isMail } from '../../events/index.ts';
import { Fault, type KnownSet, type PersonaId, toFault } from '../../model/index.ts';
import type { Clock, Clocks } from '../../ports/index.ts';
import {
  type CommitSchedule,
  createCommitSchedule,
  createGroupCommit,
  type Database,
  type Disk,
  migrate,
} from '../../state/index.ts';
import { type Ack, EMPTY_TAIL, type Sink, type Tail } from '../sink.ts';
import type { Rotation } from './event-file.ts';
import { type JournalEntry, type JournalEvent, openJournal } from './journal.ts';
import { type DeliveredMailLog, openDeliveredMailLog } from './mail-log.ts';
import { createPublisher, createSyncer, type Retention } from './publisher.ts';
import { type BehindPersona, computeSavedSum, reconcileEventFiles } from './reconcile.ts';
import {
  findChange,
  OUTBOX_SCHEMA,
  type OutboxReader,
  type OutboxRow,
  openKnownTable,
  openOutboxReader,
  openPublishedRows,
  type StoredSet,
} from './rows.ts';

export interface OutboxOptions {
  readonly db: Database;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly clocks: Clocks;
  /** The directory of the event files, created with mode 0700. */
  readonly directory: string;
  /** The absolute path of the journal file; see `OutboxJournal`. */
  readonly journal: string;
  /** Called with a fault when the event file of a persona lacks events, and with null when it has them all. No event is lost. */
  readonly onBehind: (persona: PersonaId, fault: Fault | null) => void;
  /** Called with the number of events of each batch that a sink takes, before it is committed. Zero: only the state is saved. */
  readonly onTake?: (events: number) => void;
  readonly rotation?: Rotation;
  readonly retention?: Retention;
  /** Returns the time that decides the age of a row; absent: the wall clock. */
  readonly retentionNow?: () => number;
  /** When the batches of one turn are committed; see `createGroupCommit`. */
  readonly later?: CommitSchedule;
}

/**
 * The sink of every watcher in the tray process: a journal, and tables that store events together with the saved state.
 * Batches of one turn share a flush. Then the event files are written, the listeners are called, and the `take` calls
 * resolve. An event of mail that is already stored is acknowledged without being stored or delivered again. If the
 * saved state has a `KnownSet` under the key `known`, only its changes are written.
 */
export interface Outbox<Saved extends object> extends OutboxReader, Disposable {
  /** Returns the only sink of this persona. Its `open` repairs the event file of the persona. `stem` names the file. */
  sinkFor(persona: PersonaId, stem: string): Sink<Saved>;
  /**
   * Returns the state that the last batch of the watcher saved; null before the first.
   * @throws Fault `database`
   */
  readSaved(persona: PersonaId): Saved | null;
  /**
   * Returns the saved states of all personas with one query.
   * @throws Fault `database`
   */
  readAllSaved(): ReadonlyMap<PersonaId, Saved>;
  /** Personas whose event file had events that the database lacked at opening, because the database went back in time. */
  readonly behind: readonly BehindPersona[];
  /** All delivered mail that is kept. */
  readonly delivered: DeliveredMailLog;
  /** Returns the highest delivered message id per persona. */
  getNewestIds(): ReadonlyMap<PersonaId, number>;
  /**
   * Adds an event that no watcher offers. The saved state of the watcher does not change.
   * @throws Fault
   */
  addEvent(persona: PersonaId, stem: string, event: Event): void;
  /**
   * Calls `listener` with the rows that were just committed, in order of `seq`. To replay and then continue live,
   * subscribe first and drop the rows that both parts have, by their `seq`.
   */
  onDelivered(listener: (rows: readonly OutboxRow[]) => void): Disposable;
}

/** The rotation of Kijito contract e. */
export const ROTATION: Rotation = { maxBytes: 5_000_000, keep: 5 };
export const RETENTION: Retention = { keepMs: 7 * 86_400_000, keepRows: 1000 };

interface Take {
  readonly persona: PersonaId;
  readonly events: readonly BatchLine[];
  readonly saved: string;
  /** All known items of a set; null for a log. */
  readonly known: StoredSet | null;
}

interface BatchLine {
  readonly id: string;
  /** The id of the new or changed message; null for any other event. */
  readonly messageId: number | null;
  readonly isMail: boolean;
  readonly line: string;
}

const NOTHING_SAVED = 'null';
const ACK_ALL: Ack = { is: 'all' };

function toStoppedAck(error: unknown): Ack {
  return { is: 'stopped', count: 0, fault: toFault(error, { is: 'machine', key: 'database' }) };
}

export function openOutbox<Saved extends object>(options: OutboxOptions): Outbox<Saved> {
  const { db, disk, clock, clocks, directory, onBehind, onTake } = options;
  migrate(db, 'outbox', OUTBOX_SCHEMA);
  const journal = openJournal({ db, disk, clock, path: options.journal });
  const { fill, hasGap } = journal;
  const behind = reconcileEventFiles({ db, disk, directory, hasGap });
  const reader = openOutboxReader(db, fill);
  const rows = openPublishedRows(db, fill);
  const { retention = RETENTION, retentionNow } = options;
  const needs = { rows, disk, clock, directory, retention };
  const syncer = createSyncer(retentionNow === undefined ? needs : { ...needs, retentionNow });
  const rotation = options.rotation ?? ROTATION;
  const publisher = createPublisher({ rows, disk, clock, directory, rotation, syncer, onBehind });
  const listeners = new Set<{ tell: (rows: readonly OutboxRow[]) => void }>();
  const selectSaved = db.prepare<{ kept: string; sum: number | null }>(
    'SELECT kept, sum FROM watches WHERE persona = ?',
  );
  const selectAllSaved = db.prepare<{ persona: string; kept: string; sum: number | null }>(
    'SELECT persona, kept, sum FROM watches',
  );
  const newestOfAll = db.prepare<{ persona: string; newest: number }>('SELECT persona, newest FROM watches');
  const things = openKnownTable(db);
  const isStored = db.prepare('SELECT 1 FROM outbox WHERE event_id = ? AND persona = ? AND is_mail = 1');
  const group = createGroupCommit(commitGroup, options.later ?? createCommitSchedule(0, 'after the call'));
  /** The highest delivered message id per persona. Mail above it is new without a query. */
  const newest = new Map(newestOfAll.all().map((row) => [row.persona, row.newest]));
  /** The known items that the tables have, or will have once they are filled. */
  const stored = new Map<PersonaId, StoredSet>();
  let lastSeq = reader.newest()?.seq ?? 0;
  let closed = false;
  /** Stamps the events of the group that is being collected. The clocks are read once per group. */
  let stamp: ((event: Event) => string) | null = null;

  /** Commits the batches and returns one ack per batch. */
  function commitGroup(takes: readonly Take[]): readonly Ack[] {
    stamp = null;
    try {
      commit(takes);
      return takes.map(() => ACK_ALL);
    } catch (error) {
      const answer = toStoppedAck(error);
      return takes.map(() => answer);
    }
  }

  function commit(takes: readonly Take[]): void {
    const { entries, highest, known } = toEntries(takes);
    journal.write(entries);
    for (const [persona, keys] of known) stored.set(persona, keys);
    for (const [persona, id] of highest) newest.set(persona, id);
    lastSeq += entries.reduce((count, { events }) => count + events.length, 0);
    publisher.publish(entries);
    if (listeners.size === 0) return;
    const fresh = entries.flatMap(({ persona, events }) =>
      events.map(({ seq, id, line }) => ({ seq, persona, eventId: id, line })),
    );
    if (fresh.length > 0) for (const listener of listeners) notify(listener.tell, fresh);
  }

  /** Collects what to store of these batches: everything but mail that was already delivered. */
  function toEntries(takes: readonly Take[]) {
    const at = Math.floor(clock.now());
    const entries: JournalEntry[] = [];
    const highest = new Map<PersonaId, number>();
    const known = new Map<PersonaId, StoredSet>();
    let seq = lastSeq;
    for (const { persona, events, saved, known: keys } of takes) {
      let most = highest.get(persona) ?? newest.get(persona) ?? 0;
      const fresh: JournalEvent[] = [];
      for (const { id, messageId, isMail, line } of events) {
        if (isMail && (messageId ?? 0) <= most && isDelivered(persona, id, entries, fresh)) continue;
        most = Math.max(most, messageId ?? 0);
        seq += 1;
        fresh.push({ seq, id, isMail, line });
      }
      highest.set(persona, most);
      const change = keys === null ? null : findChange(known.get(persona) ?? findStoredSet(persona), keys);
      if (keys !== null) known.set(persona, keys);
      const entry = { persona, kept: saved, newest: most, at, events: fresh };
      entries.push(change === null ? entry : { ...entry, known: change });
    }
    return { entries, highest, known };
  }

  function findStoredSet(persona: PersonaId): StoredSet {
    const known = stored.get(persona);
    if (known !== undefined) return known;
    fill();
    const storedSet = things.of(persona);
    stored.set(persona, storedSet);
    return storedSet;
  }

  function isDelivered(
    persona: PersonaId,
    id: string,
    entries: readonly JournalEntry[],
    fresh: readonly JournalEvent[],
  ): boolean {
    fill();
    const isId = (event: JournalEvent): boolean => event.id === id;
    const isInBatch = fresh.some(isId) || entries.some((entry) => entry.persona === persona && entry.events.some(isId));
    return isInBatch || isStored.get(id, persona) !== undefined;
  }

  function notify(listener: (rows: readonly OutboxRow[]) => void, fresh: readonly OutboxRow[]): void {
    try {
      listener(fresh);
    } catch (error) {
      // The events are committed, so a failing listener must not make the watcher offer them again.
      disk.log.error('a follower of the outbox failed', { error: String(error) });
    }
  }

  function take(persona: PersonaId, stem: string, events: readonly Event[], saved: Saved): Promise<Ack> {
    try {
      publisher.adopt(persona, stem);
      onTake?.(events.length);
      if (closed) throw new Fault('internal', 'the outbox is closed', { is: 'machine', key: 'database' });
      stamp ??= createStamper(clocks.read());
      const formatStamped = stamp;
      const batchEvents = events.map((event) => ({
        id: event.event_id,
        messageId: 'id' in event ? event.id : null,
        isMail: isMail(event),
        line: formatStamped(event),
      }));
      const { known } = saved as { readonly known?: KnownSet };
      if (known === undefined)
        return group.add({ persona, events: batchEvents, saved: JSON.stringify(saved), known: null });
      const { keys, gone, ...set } = known;
      return group.add({
        persona,
        events: batchEvents,
        saved: JSON.stringify({ ...saved, known: set }),
        known: gone === undefined ? { keys } : { keys, gone },
      });
    } catch (error) {
      stamp = null; // its group may never be committed
      return Promise.resolve(toStoppedAck(error));
    }
  }

  const intake: OutboxIntake<Saved> = {
    // A checkpoint is never older than its events, so the watcher has nothing to leave out.
    open(persona, stem) {
      publisher.adopt(persona, stem);
      return { ...EMPTY_TAIL, newest: newest.get(persona) ?? 0 };
    },
    take,
  };

  return {
    ...reader,
    sinkFor: (persona, stem) => new OutboxSink(intake, persona, stem),
    readSaved(persona) {
      fill();
      const row = selectSaved.get(persona);
      return row === undefined ? null : parseSaved(persona, row);
    },
    readAllSaved() {
      fill();
      const entries = selectAllSaved.all().map((row) => [row.persona, parseSaved(row.persona, row)] as const);
      return new Map(entries.filter((entry): entry is readonly [string, Saved] => entry[1] !== null));
    },
    behind,
    delivered: openDeliveredMailLog(db, fill),
    getNewestIds: () => newest,
    addEvent(persona, stem, event) {
      publisher.adopt(persona, stem);
      fill();
      const line = createStamper(clocks.read())(event);
      const events = [{ id: event.event_id, messageId: null, isMail: false, line }];
      commit([{ persona, events, saved: selectSaved.get(persona)?.kept ?? NOTHING_SAVED, known: null }]);
    },
    onDelivered(listener) {
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

  /** Returns null when no watcher has saved a state, although delivered ids may be known. */
  function parseSaved(persona: PersonaId, { kept: text, sum }: { kept: string; sum: number | null }): Saved | null {
    if (text === NOTHING_SAVED) return null;
    if (sum !== null && sum !== computeSavedSum(persona, text)) {
      disk.log.error(`${db.path}: the checkpoint of ${persona} is damaged; delivery continues after the last event`);
      return null;
    }
    try {
      const saved = JSON.parse(text) as Saved & { readonly known?: KnownSet };
      return saved.known === undefined ? saved : { ...saved, known: { ...saved.known, ...findStoredSet(persona) } };
    } catch (error) {
      const message = `${db.path}: the saved state of the watcher of ${persona} cannot be read`;
      throw new Fault('database', message, { is: 'machine', key: 'database' }, { cause: error });
    }
  }
}

/** What all sinks of an outbox share. */
interface OutboxIntake<Saved> {
  open(persona: PersonaId, stem: string): Tail;
  take(persona: PersonaId, stem: string, events: readonly Event[], saved: Saved): Promise<Ack>;
}

/** A class, because its methods are made once for the sinks of some thousand personas. */
class OutboxSink<Saved> implements Sink<Saved> {
  readonly savesState = true;
  readonly #intake: OutboxIntake<Saved>;
  readonly #persona: PersonaId;
  readonly #stem: string;

  constructor(intake: OutboxIntake<Saved>, persona: PersonaId, stem: string) {
    this.#intake = intake;
    this.#persona = persona;
    this.#stem = stem;
  }

  async open(): Promise<Tail> {
    return this.#intake.open(this.#persona, this.#stem);
  }

  take(events: readonly Event[], saved: Saved): Promise<Ack> {
    return this.#intake.take(this.#persona, this.#stem, events, saved);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
