import type { Random } from '../../ports/index.ts';
import { type Database, migrate, runLaterTransaction, runTransaction } from '../../state/index.ts';

/** How far this machine and a stream are in sync. All of it may be lost: then items are sent twice, but never missed. */
export interface RelayCheckpoints {
  /** The random name of this machine in the stream, created once. */
  readonly machine: string;
  /** True if the stream differs from the last one: then nothing is known of it. */
  meet(stream: string): boolean;
  /** Up to this id all our items are in the stream; null: unknown, as with a stream that is new to us. */
  published(): number | null;
  /**
   * Notes that items up to `id` are in the stream, or need not be. In all these methods `formatItemName` gives an item's name.
   */
  setPublished(id: number, names: readonly string[]): void;
  /** Notes items that came from the stream: they need not be published. */
  noteReceived(names: readonly string[]): void;
  /** Notes that these items are stored here under these ids. */
  noteStored(items: readonly { readonly id: number; readonly name: string }[]): void;
  isInStream(name: string): boolean;
  /** Up to which number of the stream a subject is in our store, and through which durable. */
  findCheckpoint(subject: string): { readonly durable: string; readonly seq: number } | null;
  setCheckpoint(subject: string, durable: string, seq: number): void;
}

const SCHEMA: readonly string[] = [
  `
  CREATE TABLE relay (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    machine TEXT NOT NULL,
    stream TEXT,
    published INTEGER
  ) STRICT;
  CREATE TABLE relay_came (dedup_key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE relay_seen (subject TEXT PRIMARY KEY, durable TEXT NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
];

interface RelayRow {
  readonly machine: string;
  readonly stream: string | null;
  readonly published: number | null;
}

/**
 * Opens the checkpoints. `relay_came` holds only items that the publisher has not passed yet, so it stays small. Except for the
 * machine's name nothing is flushed: what a power cut undoes is done again, and the key shows that it is the same item.
 */
export function openRelayCheckpoints(db: Database, random: Random): RelayCheckpoints {
  migrate(db, 'relay', SCHEMA);
  const read = db.prepare<RelayRow>('SELECT machine, stream, published FROM relay');
  runTransaction(db, () => db.prepare('INSERT OR IGNORE INTO relay (one, machine) VALUES (1, ?)').run(random.hex(6)));
  const row = (): RelayRow => read.get() as RelayRow;
  const meet = db.prepare('UPDATE relay SET stream = ?, published = NULL');
  const setPublished = db.prepare('UPDATE relay SET published = max(coalesce(published, 0), ?)');
  const came = db.prepare('INSERT OR IGNORE INTO relay_came (dedup_key) VALUES (?)');
  const forget = db.prepare('DELETE FROM relay_came WHERE dedup_key = ?');
  const isKnown = db.prepare<{ n: number }>('SELECT 1 AS n FROM relay_came WHERE dedup_key = ?');
  const selectCheckpoint = db.prepare<{ durable: string; seq: number }>(
    'SELECT durable, seq FROM relay_seen WHERE subject = ?',
  );
  const upsertCheckpoint = db.prepare(
    `INSERT INTO relay_seen (subject, durable, seq) VALUES (?, ?, ?)
     ON CONFLICT (subject) DO UPDATE SET durable = excluded.durable, seq = excluded.seq`,
  );

  return {
    machine: row().machine,
    meet(stream) {
      if (row().stream === stream) return false;
      runTransaction(db, () => {
        meet.run(stream);
        db.exec('DELETE FROM relay_came; DELETE FROM relay_seen');
      });
      return true;
    },
    published: () => row().published,
    setPublished(id, names) {
      runLaterTransaction(db, () => {
        setPublished.run(id);
        for (const name of names) forget.run(name);
      });
    },
    noteReceived(names) {
      runLaterTransaction(db, () => {
        for (const name of names) came.run(name);
      });
    },
    noteStored(items) {
      const publishedId = row().published ?? -1;
      const passed = items.filter(({ id }) => id <= publishedId);
      if (passed.length === 0) return;
      runLaterTransaction(db, () => {
        for (const { name } of passed) forget.run(name);
      });
    },
    isInStream: (name) => isKnown.get(name) !== undefined,
    findCheckpoint: (subject) => selectCheckpoint.get(subject) ?? null,
    setCheckpoint(subject, durable, seq) {
      runLaterTransaction(db, () => upsertCheckpoint.run(subject, durable, seq));
    },
  };
}
