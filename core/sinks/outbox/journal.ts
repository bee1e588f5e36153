import { dirname } from 'node:path';
import { type PersonaId, toFault } from '../../model/index.ts';
import { type Clock, writeAll } from '../../ports/index.ts';
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
import { computeEventSum, computeSavedSum } from './reconcile.ts';
import { countKnownChars, type KnownChange, openKnownTable } from './rows.ts';

/** What one `take` stores. */
export interface JournalEntry {
  readonly persona: PersonaId;
  /** The saved state of the watcher, as JSON. */
  readonly kept: string;
  /** The highest message id in any event so far, of a new message or of a changed one; 0 without any. */
  readonly newest: number;
  /** When the batch was taken, in whole milliseconds. */
  readonly at: number;
  readonly events: readonly JournalEvent[];
  /** The changes to the known items of a set; absent: none. */
  readonly known?: KnownChange;
}

export interface JournalEvent {
  readonly seq: number;
  readonly id: string;
  readonly isMail: boolean;
  /** The event as JSON: one line without its newline. */
  readonly line: string;
}

/**
 * The journal of the outbox. Batches are appended to a file and flushed. They reach the tables of the database a moment
 * later, off the path of an event. One append costs half of the smallest SQLite commit. It costs the same for 1,000
 * personas as for one, where the tables would write thousands of scattered pages.
 *
 * Each record is one line: `CRC JSON`. CRC is the CRC-32 of the JSON in eight hex digits, and the JSON is an
 * `OutboxRecord`. The record numbers never restart, and the database stores the last number that is in its tables. The
 * file is emptied once the database has everything on the disk.
 */
export interface OutboxJournal extends Disposable {
  /** Records are missing between the tables and the journal: the database is older than the journal. */
  readonly hasGap: boolean;
  /**
   * Makes the entries durable with one flush. If it throws, none of them is stored.
   * @throws Fault `unwritable`, `no-space`
   */
  write(entries: readonly JournalEntry[]): void;
  /**
   * Brings the tables up to date. Does nothing when they are. Must not run within a transaction.
   * @throws Fault `database`, `no-space`
   */
  fill(): void;
}

interface WaitingRecord {
  readonly n: number;
  /** An `OutboxRecord`. */
  readonly json: string;
}

interface OutboxRecord {
  /** The id of the database that the record belongs to. Records of another database are ignored. */
  readonly of: string;
  readonly n: number;
  readonly entries: readonly JournalEntry[];
}

export interface OutboxJournalOptions {
  readonly db: Database;
  readonly disk: Disk;
  readonly clock: Clock;
  /** The absolute path. */
  readonly path: string;
}

/** Milliseconds between an append and the write to the tables, unless they are read before. It combines many appends. */
const FILL_AFTER_MS = 500;
/** Milliseconds between two parts of a fill, so that a long fill does not block other work. */
const BETWEEN_PARTS_MS = 5;
const RETRY_MS = 30_000;
/** Characters of entries in one record, and of records in one part of a fill. */
const RECORD_CHARS = 32 * 1024;
const PART_CHARS = 64 * 1024;
/** The journal file is emptied when it is this large, in bytes. */
const EMPTIED_AT = 1024 * 1024;
/** The file is emptied at this size even if the database is not fully on the disk. */
const MAX_BYTES = 16 * EMPTIED_AT;

const DATABASE = { is: 'machine', key: 'database' } as const;

/**
 * Opens the journal and moves the records of a former process into the tables.
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
  /** Bytes of a failed write may follow after `size`. */
  let torn = false;
  let n = filled;
  /**
   * Records that are durable in the journal and not in the tables yet. As text, because a storm leaves some ten thousand objects in
   * them, which would take up twice the memory, and which every garbage collection would visit.
   */
  let waiting: WaitingRecord[] = [];
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
      log.error(`${path}: ${damaged} records are damaged; their events may be lost`);
    }
    const owner = ownerRow.isMade === true || tables.isNew() ? (records.at(-1)?.of ?? ownerId) : ownerId;
    if (owner !== ownerId) adopt(owner);
    waiting = records.filter((record) => record.of === ownerId && record.n > filled);
    n = waiting.at(-1)?.n ?? filled;
    hasGap = waiting.length > 0 && waiting[0]?.n !== filled + 1;
    fill();
    if (size > 0) emptyFile();
  }

  /** Takes over the journal of a lost database, when the current database is empty. */
  function adopt(owner: string): void {
    log.info(`${db.path} is new, and ${path} holds events of the previous database, which are imported`);
    runTransaction(db, () => tables.setOwner(owner));
    ownerId = owner;
  }

  function cut(): void {
    torn = true;
    files.ftruncate(fd, size);
    torn = false;
  }

  function append(bytes: Uint8Array): void {
    writeAll(files, fd, bytes);
    files.fdatasync(fd);
  }

  function fillPart(): void {
    let chars = 0;
    let count = 0;
    for (; count < waiting.length && chars < PART_CHARS; count += 1) chars += waiting[count]?.json.length ?? 0;
    const part = waiting.slice(0, count).map(({ json }) => JSON.parse(json) as OutboxRecord);
    runLaterTransaction(db, () => tables.add(part));
    waiting = waiting.slice(count);
  }

  function fill(): void {
    while (waiting.length > 0) fillPart();
  }

  /** Removes from the journal only what the database has on the disk. */
  function emptyFile(): void {
    runTransaction(db, () => tables.add([]));
    // A damaged frame in the WAL loses every later frame too, so the data must be in the database file itself.
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
        // Nothing is lost: the records stay durable in the journal.
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
      const records = toRecords(entries).map((part, i) => toWaiting({ of: ownerId, n: n + 1 + i, entries: part }));
      const bytes = Buffer.concat(records.flatMap(formatRecord));
      try {
        if (torn) cut();
        torn = true;
        append(bytes);
        torn = false;
      } catch (error) {
        tryTo(cut); // if it fails, the next write cuts
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

/** The statements of the journal on the database. */
function openTables(db: Database) {
  const selectOwner = db.prepare<{ of: string; filled: number }>('SELECT id AS of, filled FROM journal');
  const countRows = db.prepare<{ n: number }>(
    'SELECT (SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT 1)) + (SELECT count(*) FROM watches) AS n',
  );
  const checkpoint = db.prepare<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
  const updateOwner = db.prepare('UPDATE journal SET id = ?');
  const filled = db.prepare('UPDATE journal SET filled = max(filled, ?)');
  // Mail with the same id is the same mail. No other row may be skipped.
  const event = db.prepare(
    `INSERT INTO outbox (seq, persona, event_id, is_mail, line, at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const upsertWatcher = db.prepare(
    `INSERT INTO watches (persona, kept, published, newest, sum) VALUES (?, ?, 0, ?, ?)
     ON CONFLICT (persona) DO UPDATE
     SET kept = excluded.kept, newest = max(newest, excluded.newest), sum = excluded.sum`,
  );
  const things = openKnownTable(db);
  return {
    readOwner(): { of: string; filled: number; isMade?: true } {
      const row = selectOwner.get();
      if (row !== undefined) return row;
      // A recovered database may lack this row. The journal is then read from its beginning.
      db.exec('INSERT INTO journal (id, filled) VALUES (lower(hex(randomblob(8))), 0)');
      return { ...(selectOwner.get() as { of: string; filled: number }), isMade: true };
    },
    /** Moves the whole WAL into the database file on the disk. False: somebody is reading it right now. */
    isCheckpointed: (): boolean => checkpoint.get()?.busy === 0,
    isNew: (): boolean => countRows.get()?.n === 0,
    setOwner: (ownerId: string) => void updateOwner.run(ownerId),
    /** Must run within a transaction. It always writes something. */
    add(records: readonly OutboxRecord[]): void {
      for (const { entries } of records) {
        for (const { persona, kept: saved, newest, at, events, known } of entries) {
          for (const { seq, id, isMail, line } of events)
            event.run(seq, persona, id, isMail ? 1 : 0, line, at, computeEventSum(seq, persona, id, line));
          upsertWatcher.run(persona, saved, newest, computeSavedSum(persona, saved));
          if (known !== undefined) things.apply(persona, known);
        }
      }
      filled.run(records.at(-1)?.n ?? 0);
    },
  };
}

function countChars({ kept: saved, events, known }: JournalEntry): number {
  let chars = saved.length + (known === undefined ? 0 : countKnownChars(known));
  for (const { line } of events) chars += line.length;
  return chars;
}

/** Splits consecutive entries into records that are small enough to be filled in without a noticeable stop. */
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
    chars += countChars(entry);
  }
  return records;
}

function toWaiting(record: OutboxRecord): WaitingRecord {
  return { n: record.n, json: JSON.stringify(record) };
}

/** Returns the line of a record in pieces, because a storm of 1,000 messages makes a megabyte of them. */
function formatRecord(record: WaitingRecord): readonly Uint8Array[] {
  const json = Buffer.from(record.json);
  return [Buffer.from(`${formatSum(json)} `), json, LINE_END];
}

const LINE_END = Buffer.from('\n');

function formatSum(json: Uint8Array): string {
  return crc32(json).toString(16).padStart(8, '0');
}

const NEWLINE = 10;

/** Parses the whole records of a journal. Bytes after the last newline belong to an unfinished write and are ignored. */
function parseRecords(bytes: Buffer): {
  readonly records: readonly (WaitingRecord & Pick<OutboxRecord, 'of'>)[];
  readonly damaged: number;
} {
  const records: (WaitingRecord & Pick<OutboxRecord, 'of'>)[] = [];
  let damaged = 0;
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const jsonBytes = bytes.subarray(start + 9, end);
    if (bytes.toString('latin1', start, start + 9) === `${formatSum(jsonBytes)} `) {
      const json = jsonBytes.toString();
      const { of: owner, n } = JSON.parse(json) as OutboxRecord;
      records.push({ of: owner, n, json });
    } else damaged += 1;
    start = end + 1;
  }
  return { records, damaged };
}

function tryTo(run: () => void): void {
  try {
    run();
  } catch {
    // The earlier failure is the one to report. The content of the file is as durable as before.
  }
}
