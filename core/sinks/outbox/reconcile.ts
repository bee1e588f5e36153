import { join } from 'node:path';
import { type Event, formatEventJson, isMail, parseEventLine } from '../../events/index.ts';
import { type PersonaId, parseIso } from '../../model/index.ts';
import { crc32, type Database, type Disk, openForRead, runTransaction, toIoFault, toStem } from '../../state/index.ts';
import { readPiecesFromEnd } from './event-file.ts';

/** A persona whose event file holds events that the tables lack. */
export interface BehindPersona {
  readonly persona: PersonaId;
  readonly stem: string;
  /** How many events were copied from the file into the tables. */
  readonly events: number;
  /** The newest event that the tables had before; null for none. */
  readonly after: string | null;
}

interface ReconcileOptions {
  readonly db: Database;
  readonly disk: Disk;
  readonly directory: string;
  /** The journal lacks records before its first, so every file is compared completely. */
  readonly hasGap: boolean;
}

const NAME = /^events\.(.+)\.ndjson$/;
const ARCHIVE = /^\.(\d+)$/;

/**
 * Compares the end of each event file with the tables and copies what the tables lack. Events are durable in the outbox
 * before they reach a file. An unknown line therefore proves that the store went back in time: a backup was restored,
 * or the database was lost or damaged. After the copy, delivered mail counts as delivered and its id is not used again.
 *
 * Costs one read of the last line per file, and one statement.
 *
 * @throws Fault `database`
 */
export function reconcileEventFiles(options: ReconcileOptions): readonly BehindPersona[] {
  const { disk, directory, hasGap } = options;
  const tables = openTables(options.db);
  const behind: BehindPersona[] = [];
  for (const [stem, files] of findFiles(disk, directory)) {
    const last = findLastLine(disk, files);
    const persona = last?.event.persona;
    if (last === null || persona === undefined || toStem(persona) !== stem) continue;
    if (!hasGap && tables.findSeq(persona, last) !== null) continue;
    const events = takeOver(options, tables, persona, files);
    if (events !== null) behind.push({ persona, stem, ...events });
  }
  return behind;
}

interface FileLine {
  readonly text: string;
  readonly event: Event;
}

/** Returns the paths of each event file and its archives by stem, newest first. */
function findFiles(disk: Disk, directory: string): ReadonlyMap<string, readonly string[]> {
  const names = readNames(disk, directory);
  const byStem = new Map<string, string[]>();
  for (const name of names) {
    const live = /^(events\..+\.ndjson)(\.\d+)?$/.exec(name);
    const stem = NAME.exec(live?.[1] ?? '')?.[1];
    if (stem !== undefined) byStem.set(stem, [...(byStem.get(stem) ?? []), name]);
  }
  const findAge = (name: string): number => Number(ARCHIVE.exec(name.slice(name.lastIndexOf('.ndjson') + 7))?.[1] ?? 0);
  return new Map(
    [...byStem].map(([stem, some]) => [
      stem,
      some.toSorted((a, b) => findAge(a) - findAge(b)).map((name) => join(directory, name)),
    ]),
  );
}

function readNames({ files, log }: Disk, directory: string): readonly string[] {
  try {
    return files.lstat(directory) === null ? [] : files.readdir(directory);
  } catch (error) {
    log.warn(`event files are not compared with the database: ${toIoFault(error, directory, 'unreadable').message}`);
    return [];
  }
}

function findLastLine(disk: Disk, files: readonly string[]): FileLine | null {
  for (const path of files) {
    for (const line of readLinesFromEnd(disk, path)) return line;
  }
  return null;
}

/** Yields the whole lines that are events, newest first. Yields nothing for an unreadable file; its writer reports the fault. */
function* readLinesFromEnd(disk: Disk, path: string): Iterable<FileLine> {
  let opened: ReturnType<typeof openForRead>;
  try {
    opened = openForRead(disk, path);
  } catch (error) {
    disk.log.info(`an event file cannot be compared with the database: ${String(error)}`);
    return;
  }
  if (opened === null) return;
  try {
    let isTorn = true;
    for (const piece of readPiecesFromEnd(disk.files, opened.fd, opened.stat.size)) {
      const text = isTorn ? '' : piece.toString('utf8');
      isTorn = false;
      const event = text === '' ? null : parseEventLine(text);
      if (event !== null) yield { text, event };
    }
  } finally {
    disk.files.close(opened.fd);
  }
}

/**
 * The rows of a persona have the order of its file. So every line from the first unknown line on gets a new number, in
 * that order, followed by the rows that no file has yet. Null: no line is unknown.
 */
function takeOver(
  { db, disk }: ReconcileOptions,
  tables: ReturnType<typeof openTables>,
  persona: PersonaId,
  files: readonly string[],
): Omit<BehindPersona, 'persona' | 'stem'> | null {
  const lines = files
    .flatMap((path) => [...readLinesFromEnd(disk, path)])
    .filter(({ event }) => event.persona === persona)
    .reverse();
  const known = lines.map((line) => tables.findSeq(persona, line));
  // Lines before the first known line were deleted from the tables because of their age.
  const oldest = Math.max(
    0,
    known.findIndex((seq) => seq !== null),
  );
  const first = known.findIndex((seq, i) => i >= oldest && seq === null);
  if (first === -1) return null;
  const from = known[first - 1] ?? tables.published(persona);
  const inFiles = new Set(known.filter((seq) => seq !== null));
  runTransaction(db, () => {
    const unpublished = tables.after(persona, from).filter(({ seq }) => !inFiles.has(seq));
    let seq = tables.lastSeq();
    tables.deleteAfter(persona, from);
    let newest = 0;
    for (const { text, event } of lines.slice(first)) {
      seq += 1;
      const id = 'id' in event && Number.isSafeInteger(event.id) ? event.id : 0;
      newest = Math.max(newest, id);
      tables.insert({
        seq,
        persona,
        event_id: event.event_id,
        is_mail: isMail(event) ? 1 : 0,
        line: text,
        at: Math.floor(parseIso(event.ts) ?? 0),
      });
    }
    const published = seq;
    for (const row of unpublished) {
      seq += 1;
      tables.insert({ ...row, seq });
    }
    tables.setPublished(persona, published, newest);
  });
  const after = first === 0 ? null : (lines[first - 1]?.event.event_id ?? null);
  return { events: known.slice(first).filter((seq) => seq === null).length, after };
}

interface OutboxTableRow {
  readonly seq: number;
  readonly persona: PersonaId;
  readonly event_id: string;
  readonly is_mail: number;
  readonly line: string;
  readonly at: number;
}

function openTables(db: Database) {
  const mail = db.prepare<{ seq: number }>('SELECT seq FROM outbox WHERE event_id = ? AND persona = ? AND is_mail = 1');
  const other = db.prepare<{ seq: number }>(
    'SELECT seq FROM outbox WHERE event_id = ? AND persona = ? AND is_mail = 0 AND line = ? ORDER BY seq DESC LIMIT 1',
  );
  const after = db.prepare<OutboxTableRow>('SELECT * FROM outbox WHERE persona = ? AND seq > ? ORDER BY seq');
  const remove = db.prepare('DELETE FROM outbox WHERE persona = ? AND seq > ?');
  const last = db.prepare<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM outbox');
  const insert = db.prepare(
    `INSERT INTO outbox (seq, persona, event_id, is_mail, line, at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (event_id, persona) WHERE is_mail = 1 DO NOTHING`,
  );
  const published = db.prepare<{ published: number }>('SELECT published FROM watches WHERE persona = ?');
  const upsertWatcher = db.prepare(
    `INSERT INTO watches (persona, kept, published, newest) VALUES (?, 'null', ?, ?)
     ON CONFLICT (persona) DO UPDATE SET published = excluded.published, newest = max(newest, excluded.newest)`,
  );
  return {
    findSeq(persona: PersonaId, { event, text }: FileLine): number | null {
      const row = isMail(event) ? mail.get(event.event_id, persona) : other.get(event.event_id, persona, text);
      return row?.seq ?? null;
    },
    after: (persona: PersonaId, seq: number): readonly OutboxTableRow[] => after.all(persona, seq),
    deleteAfter: (persona: PersonaId, seq: number) => void remove.run(persona, seq),
    published: (persona: PersonaId): number => published.get(persona)?.published ?? 0,
    lastSeq: (): number => last.get()?.seq ?? 0,
    insert: ({ seq, persona, event_id, is_mail, line, at }: OutboxTableRow) =>
      void insert.run(seq, persona, event_id, is_mail, line, at, computeEventSum(seq, persona, event_id, line)),
    setPublished: (persona: PersonaId, published: number, newest: number) =>
      void upsertWatcher.run(persona, published, newest),
  };
}

/** An event as the table stores it. Rows of an earlier version have no checksum. */
export interface SummedRow {
  readonly seq: number;
  readonly persona: PersonaId;
  readonly eventId: string;
  readonly line: string;
  readonly sum: number | null;
}

const BETWEEN = '\u0000';

/** Computes the checksum of an outbox row, so that a row that the disk changed is never delivered as it is. */
export function computeEventSum(seq: number, persona: PersonaId, eventId: string, line: string): number {
  return crc32([seq, persona, eventId, line].join(BETWEEN));
}

/** Computes the checksum of the saved state of a watcher. */
export function computeSavedSum(persona: PersonaId, saved: string): number {
  return crc32([persona, saved].join(BETWEEN));
}

export function isWholeRow({ seq, persona, eventId, line, sum }: SummedRow): boolean {
  return sum === null || sum === computeEventSum(seq, persona, eventId, line);
}

/** Formats the line that replaces a damaged event. It reports that there was an event, and nothing of its current content. */
export function formatDamagedLine({ persona, eventId }: Pick<SummedRow, 'persona' | 'eventId'>): string {
  const event = {
    event: 'damaged',
    source: 'hivebar',
    persona,
    reason: 'the event does not match its checksum: its content is lost',
    event_id: eventId,
    wake_class: 'diagnostic',
  } as unknown as Event; // only readers see this event; they treat it like any unknown kind
  return formatEventJson(event);
}
