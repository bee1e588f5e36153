import { dirname } from 'node:path';
import { type PersonaId, toFault } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import {
  crc32,
  type Database,
  type Disk,
  openForAppend,
  runLaterTransaction,
  runTransaction,
  syncDirectory,
  toIoFault,
} from '../../state/index.ts';
import { computeEventSum, computeSavedSum } from './checksums.ts';
import { countKnownChars, type KnownChange, openKnownTable } from './known-table.ts';

/** What one take stores. */
export interface JournalEntry {
  readonly persona: PersonaId;
  /** What the watch wants remembered. */
  readonly kept: string;
  /** The highest id of a mail, or of a change to one, that was ever told; 0 without any. */
  readonly newest: number;
  /** When it was taken, in whole milliseconds. */
  readonly at: number;
  readonly events: readonly JournalEvent[];
  /** What it changed of the things of a set; absent: nothing. */
  readonly known?: KnownChange;
}

export interface JournalEvent {
  readonly seq: number;
  readonly id: string;
  readonly isMail: boolean;
  /** The event's JSON, one physical line without its newline. */
  readonly line: string;
}

/**
 * The beginning of the outbox: takes are appended to a file and flushed, and go into the tables of the database a moment
 * later, off the path of an event. One append costs half of what the smallest commit of SQLite does, and the same for
 * 1,000 personas as for one, where the tables would write thousands of pages here and there.
 *
 * Each record is a line of its own: `CRC JSON`, the CRC-32 of the JSON in eight hex digits, the JSON a `Record`. Records
 * count on for ever; the database says up to which one they are in its tables. The file is emptied once the database has
 * everything on the disk.
 */
export interface OutboxJournal extends Disposable {
  /** Records are missing between the tables and those that were found: the database is an older one than the journal. */
  readonly hasGap: boolean;
  /** Makes the entries durable with one flush. When it throws none of them is taken. @throws Fault `unwritable`, `no-space` */
  write(entries: readonly JournalEntry[]): void;
  /** Brings the tables up to date; costs nothing when they are. Not within a transaction. @throws Fault `database`, `no-space` */
  fill(): void;
}

interface OutboxRecord {
  /** Which database it belongs to: a journal never speaks for another one. */
  readonly of: string;
  readonly n: number;
  readonly entries: readonly JournalEntry[];
}

export interface OutboxJournalOptions {
  readonly db: Database;
  readonly disk: Disk;
  readonly clock: Clock;
  /** Absolute. */
  readonly path: string;
}

/** From a write to the tables, unless somebody reads them before. Long enough for many writes to go together. */
const FILL_AFTER_MS = 500;
/** Between two parts of a fill, so that nothing waits long for a storm to be filled in. */
const BETWEEN_PARTS_MS = 5;
const RETRY_MS = 30_000;
/** Characters of entries in one record, and in one part of a fill. */
const RECORD_CHARS = 32 * 1024;
const PART_CHARS = 64 * 1024;
/** The file is emptied when it is this large, in bytes. */
const EMPTIED_AT = 1024 * 1024;
/** And whatever becomes of the database when it is this large. */
const MAX_BYTES = 16 * EMPTIED_AT;

const DATABASE = { is: 'machine', key: 'database' } as const;

/**
 * Opens the journal, and fills in what a former process left in it.
 *
 * @throws Fault `unwritable`, `no-space`, `database`
 */
export function openJournal(options: OutboxJournalOptions): OutboxJournal {
  const { db, disk, clock, path } = options;
  const { files, log } = disk;
  const tables = openTables(db);
  const ownerRow = tables.readOwner();
  const { filled } = ownerRow;
  let { of: ownerId } = ownerRow;
  let hasGap = false;
  const { fd, stat, created } = openForAppend(disk, path);
  let size = stat.size;
  /** Something may stand behind `size`. */
  let torn = false;
  let n = filled;
  /** Durable, and not in the tables yet. */
  let waiting: OutboxRecord[] = [];
  let timer: Disposable | null = null;
  let warned = false;

  function recover(): void {
    const bytes = Buffer.alloc(size);
    for (let done = 0; done < size; ) {
      const got = files.read(fd, bytes.subarray(done), done);
      if (got === 0) break;
      done += got;
    }
    const { records, damaged } = parseRecords(bytes);
    if (damaged > 0) {
      log.error(`${path}: ${damaged} records are damaged; what they held may never be told`);
    }
    const owner = ownerRow.isMade === true || tables.isNew() ? (records.at(-1)?.of ?? ownerId) : ownerId;
    if (owner !== ownerId) adopt(owner);
    waiting = records.filter((record) => record.of === ownerId && record.n > filled);
    n = waiting.at(-1)?.n ?? filled;
    hasGap = waiting.length > 0 && waiting[0]?.n !== filled + 1;
    fill();
    if (size > 0) emptyFile();
  }

  /** A database that has nothing goes on where the one that is lost ended. */
  function adopt(owner: string): void {
    log.info(`${db.path} is new, and ${path} has events of the one before: they are taken over`);
    runTransaction(db, () => tables.setOwner(owner));
    ownerId = owner;
  }

  function cut(): void {
    torn = true;
    files.ftruncate(fd, size);
    torn = false;
  }

  function append(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const wrote = files.write(fd, done === 0 ? bytes : bytes.subarray(done));
      if (wrote === 0) throw new Error('the disk takes no more bytes');
      done += wrote;
    }
    files.fdatasync(fd);
  }

  function fillPart(): void {
    let chars = 0;
    let count = 0;
    for (; count < waiting.length && chars < PART_CHARS; count += 1) chars += countChars(waiting[count]?.entries ?? []);
    const part = waiting.slice(0, count);
    runLaterTransaction(db, () => tables.add(part));
    waiting = waiting.slice(count);
  }

  function fill(): void {
    while (waiting.length > 0) fillPart();
  }

  /** Only what the database has on the disk may go from here. */
  function emptyFile(): void {
    runTransaction(db, () => tables.add([]));
    // A frame of the log that is damaged takes all behind it along, so it has to be in the database itself.
    if (!tables.isCheckpointed() && size < MAX_BYTES) return;
    size = 0;
    cut();
  }

  function schedule(ms: number): void {
    timer ??= clock.after(ms, () => {
      timer = null;
      try {
        if (waiting.length > 0) fillPart();
        if (waiting.length === 0 && size >= EMPTIED_AT) emptyFile();
        warned = false;
        if (waiting.length > 0) schedule(BETWEEN_PARTS_MS);
      } catch (error) {
        // Nothing is lost: what was taken is durable where it is.
        if (!warned) log.warn(`the outbox cannot be filled: ${toFault(error, DATABASE).explain()}`);
        warned = true;
        schedule(RETRY_MS);
      }
    });
  }

  try {
    if (created) syncDirectory(disk, dirname(path));
    recover();
  } catch (error) {
    tryTo(() => files.close(fd));
    throw toIoFault(error, path, 'unwritable');
  }
  return {
    hasGap,
    write(entries) {
      const records = toRecords(entries).map((part, i) => ({ of: ownerId, n: n + 1 + i, entries: part }));
      const bytes = Buffer.from(records.map(formatRecord).join(''));
      try {
        if (torn) cut();
        torn = true;
        append(bytes);
        torn = false;
      } catch (error) {
        tryTo(cut); // else before the next write
        throw toIoFault(error, path, 'unwritable');
      }
      size += bytes.length;
      n += records.length;
      waiting.push(...records);
      schedule(FILL_AFTER_MS);
    },
    fill,
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      timer = null;
      try {
        fill();
        if (size > 0) emptyFile();
      } catch (error) {
        log.warn(`the outbox cannot be filled: ${toFault(error, DATABASE).explain()}`); // the next start does it
      }
      tryTo(() => files.close(fd));
    },
  };
}

/** What the journal reads and writes in the database. */
function openTables(db: Database) {
  const selectOwner = db.prepare<{ of: string; filled: number }>('SELECT id AS of, filled FROM journal');
  const countRows = db.prepare<{ n: number }>(
    'SELECT (SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT 1)) + (SELECT count(*) FROM watches) AS n',
  );
  const checkpoint = db.prepare<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
  const updateOwner = db.prepare('UPDATE journal SET id = ?');
  const filled = db.prepare('UPDATE journal SET filled = max(filled, ?)');
  // A mail that is there already is the same mail: nothing else may be passed over.
  const event = db.prepare(
    `INSERT INTO outbox (seq, persona, event_id, is_mail, line, at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const watch = db.prepare(
    `INSERT INTO watches (persona, kept, published, newest, sum) VALUES (?, ?, 0, ?, ?)
     ON CONFLICT (persona) DO UPDATE
     SET kept = excluded.kept, newest = max(newest, excluded.newest), sum = excluded.sum`,
  );
  const things = openKnownTable(db);
  return {
    readOwner(): { of: string; filled: number; isMade?: true } {
      const row = selectOwner.get();
      if (row !== undefined) return row;
      // What was recovered of a damaged database may lack it: the journal is then gone through from its beginning.
      db.exec('INSERT INTO journal (id, filled) VALUES (lower(hex(randomblob(8))), 0)');
      return { ...(selectOwner.get() as { of: string; filled: number }), isMade: true };
    },
    /** All of the log is in the database file, on the disk. False: somebody reads it just now. */
    isCheckpointed: (): boolean => checkpoint.get()?.busy === 0,
    isNew: (): boolean => countRows.get()?.n === 0,
    setOwner: (ownerId: string) => void updateOwner.run(ownerId),
    /** Within a transaction, which writes something in any case. */
    add(records: readonly OutboxRecord[]): void {
      for (const { entries } of records) {
        for (const { persona, kept: saved, newest, at, events, known } of entries) {
          for (const { seq, id, isMail, line } of events)
            event.run(seq, persona, id, isMail ? 1 : 0, line, at, computeEventSum(seq, persona, id, line));
          watch.run(persona, saved, newest, computeSavedSum(persona, saved));
          if (known !== undefined) things.apply(persona, known);
        }
      }
      filled.run(records.at(-1)?.n ?? 0);
    },
  };
}

function countChars(entries: readonly JournalEntry[]): number {
  let chars = 0;
  for (const { kept: saved, events, known } of entries) {
    chars += saved.length;
    if (known !== undefined) chars += countKnownChars(known);
    for (const { line } of events) chars += line.length;
  }
  return chars;
}

/** Consecutive entries, cut into records that are filled in at once without a stop to notice. */
function toRecords(entries: readonly JournalEntry[]): readonly (readonly JournalEntry[])[] {
  if (entries.length === 1) return [entries];
  const records: JournalEntry[][] = [];
  let chars = RECORD_CHARS;
  for (const entry of entries) {
    if (chars >= RECORD_CHARS) {
      records.push([]);
      chars = 0;
    }
    records.at(-1)?.push(entry);
    chars += countChars([entry]);
  }
  return records;
}

function formatRecord(record: OutboxRecord): string {
  const json = JSON.stringify(record);
  return `${formatSum(json)} ${json}\n`;
}

function formatSum(text: string | Uint8Array): string {
  return crc32(text).toString(16).padStart(8, '0');
}

const NEWLINE = 10;

/** The whole records of a journal. What stands behind the last newline was being written when its writer ended. */
function parseRecords(bytes: Buffer): { readonly records: readonly OutboxRecord[]; readonly damaged: number } {
  const records: OutboxRecord[] = [];
  let damaged = 0;
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const json = bytes.subarray(start + 9, end);
    if (bytes.toString('latin1', start, start + 9) === `${formatSum(json)} `) records.push(JSON.parse(json.toString()));
    else damaged += 1;
    start = end + 1;
  }
  return { records, damaged };
}

function tryTo(run: () => void): void {
  try {
    run();
  } catch {
    // The failure before it is the one to tell; what is in the file is as durable as it was.
  }
}
