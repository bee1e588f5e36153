import { type Event, lineOf } from '../../events/index.ts';
import { Fault, faultOf, type PersonaId } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Database, type Disk, groupCommit, transaction } from '../../state/index.ts';
import { EMPTY_TAIL, type Sink, type Taken } from '../sink.ts';
import type { Rotation } from './event-file.ts';
import { createPublisher } from './publisher.ts';
import { type OutboxReader, type OutboxRow, openOutboxReader, publishedRows } from './rows.ts';
import { createSyncer, type Retention } from './syncer.ts';

export interface OutboxOptions {
  readonly db: Database;
  readonly disk: Disk;
  readonly clock: Clock;
  /** Where the event files are; created 0700. */
  readonly directory: string;
  /** A persona's event file lacks events because of this; null: it has them all again. The events themselves are safe. */
  readonly onBehind: (persona: PersonaId, fault: Fault | null) => void;
  readonly rotation?: Rotation;
  readonly retention?: Retention;
  /** When the takes of one turn are committed; see `groupCommit`. */
  readonly later?: (run: () => void) => void;
}

/**
 * Where every watch of the tray process hands its events over: a table, committed together with what the watch wants
 * remembered. Takes of one turn share one flush; then the event files are written from it, then the followers told, then
 * the takes resolve. An event of mail that the outbox has already is taken again without being stored or told again.
 */
export interface Outbox<Kept extends object> extends OutboxReader, Disposable {
  /** The one sink of this persona. Its `open` repairs the persona's event file. `stem` names the file. */
  sinkFor(persona: PersonaId, stem: string): Sink<Kept>;
  /** What the watch wanted remembered with its last take, null before the first. @throws Fault `database` */
  kept(persona: PersonaId): Kept | null;
  /** The same for all personas in one query. @throws Fault `database` */
  allKept(): ReadonlyMap<PersonaId, Kept>;
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
  readonly events: readonly { readonly id: string; readonly isMail: boolean; readonly line: string }[];
  readonly kept: string;
}

export function openOutbox<Kept extends object>(options: OutboxOptions): Outbox<Kept> {
  const { db, disk, clock, directory, onBehind } = options;
  const reader = openOutboxReader(db);
  const rows = publishedRows(db);
  const syncer = createSyncer({ db, rows, disk, clock, directory, retention: options.retention ?? RETENTION });
  const rotation = options.rotation ?? ROTATION;
  const publisher = createPublisher({ rows, disk, clock, directory, rotation, syncer, onBehind });
  const listeners = new Set<{ tell: (rows: readonly OutboxRow[]) => void }>();
  const insert = db.prepare(
    'INSERT INTO outbox (persona, event_id, is_mail, line, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const keep = db.prepare(
    'INSERT INTO watches (persona, kept, published) VALUES (?, ?, 0) ON CONFLICT (persona) DO UPDATE SET kept = excluded.kept',
  );
  const keptOf = db.prepare<{ kept: string }>('SELECT kept FROM watches WHERE persona = ?');
  const keptOfAll = db.prepare<{ persona: string; kept: string }>('SELECT persona, kept FROM watches');
  const group = groupCommit((takes: readonly Take[]) => commit(takes), options.later);
  let closed = false;

  function commit(takes: readonly Take[]): Taken[] {
    const committed = transaction(db, () => takes.flatMap(store));
    publisher.publish(committed);
    if (committed.length > 0) for (const listener of listeners) tell(listener.tell, committed);
    return takes.map(() => ({ is: 'all' }));
  }

  function store({ persona, events, kept }: Take): OutboxRow[] {
    const stored: OutboxRow[] = [];
    const at = Math.floor(clock.now());
    for (const { id, isMail, line } of events) {
      const { changes, lastInsertRowid } = insert.run(persona, id, isMail ? 1 : 0, line, at);
      if (changes > 0) stored.push({ seq: lastInsertRowid, persona, eventId: id, line });
    }
    keep.run(persona, kept);
    return stored;
  }

  function tell(listener: (rows: readonly OutboxRow[]) => void, committed: readonly OutboxRow[]): void {
    try {
      listener(committed);
    } catch (error) {
      // The events are committed: a listener's mistake must not make the watch offer them again.
      disk.log.error('a follower of the outbox failed', { error: String(error) });
    }
  }

  async function take(persona: PersonaId, stem: string, events: readonly Event[], kept: Kept): Promise<Taken> {
    try {
      publisher.adopt(persona, stem);
      if (closed) throw new Fault('internal', 'the outbox is closed', { is: 'machine', key: 'database' });
      const lines = events.map((event) => ({
        id: event.event_id,
        isMail: event.event === 'new',
        line: lineOf(event).trimEnd(),
      }));
      return await group.add({ persona, events: lines, kept: JSON.stringify(kept) });
    } catch (error) {
      return { is: 'stopped', count: 0, fault: faultOf(error, { is: 'machine', key: 'database' }) };
    }
  }

  return {
    ...reader,
    sinkFor: (persona, stem) => ({
      keeps: true,
      // A mark is never older than the events it belongs to, so there is nothing the watch would have to leave out.
      open: async () => {
        publisher.adopt(persona, stem);
        return EMPTY_TAIL;
      },
      take: (events, kept) => take(persona, stem, events, kept),
      [Symbol.asyncDispose]: async () => {},
    }),
    kept(persona) {
      const row = keptOf.get(persona);
      return row === undefined ? null : parsed(persona, row.kept);
    },
    allKept: () => new Map(keptOfAll.all().map((row) => [row.persona, parsed(row.persona, row.kept)])),
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
    },
  };

  function parsed(persona: PersonaId, text: string): Kept {
    try {
      return JSON.parse(text) as Kept;
    } catch (error) {
      const message = `${db.path}: what the watch of ${persona} remembers can not be read`;
      throw new Fault('database', message, { is: 'machine', key: 'database' }, { cause: error });
    }
  }
}
