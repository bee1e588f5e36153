import type { Instant } from '../model/index.ts';
import type { Clock, Files, Log } from '../ports/index.ts';
import { type Database, runTransaction } from '../state/index.ts';
import { openIndexFile } from './index-file.ts';
import { findMarks, formatMatch, type Mark, parsePhrases } from './words.ts';

/** One message of a log. All text is untrusted, and at most its first `SEARCHED_CHARS` characters. */
export interface LoggedMail {
  /** Its number in the log; it rises. */
  readonly ref: number;
  readonly at: Instant;
  readonly from: string;
  /** Empty: to everybody. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Where messages are kept with their text. The index holds no text, so what a log has lost is not found either. */
export interface SearchLog<M extends LoggedMail> {
  readonly name: string;
  /** The highest number ever given, also to what was deleted since. */
  newest(): number;
  /**
   * Reads on from this number, without it: the next `limit` entries. `last` is the last one that was looked at, also where it is no
   * message; null: there is none.
   */
  read(
    from: number,
    way: 'newer' | 'older',
    limit: number,
  ): { readonly mails: readonly M[]; readonly last: number | null };
  /** Null when it was deleted. */
  find(ref: number): M | null;
}

/** How much of a message is searched and shown in a list. */
export const SEARCHED_CHARS = 20_000;

export interface MailHit<M> {
  /** Its place in the order of time, for `before` of the next request. */
  readonly id: number;
  readonly mail: M;
  readonly marks: { readonly from: readonly Mark[]; readonly subject: readonly Mark[]; readonly text: readonly Mark[] };
}

export interface MailPage<M> {
  /** Newest first. */
  readonly hits: readonly MailHit<M>[];
  /** Whether older ones follow. */
  readonly hasMore: boolean;
  /** False: old messages are still being indexed. */
  readonly isComplete: boolean;
}

export interface MailSearch<M> extends Disposable {
  /** Indexes at most this many messages of each log, new ones first. Returns whether more are left. @throws Fault */
  advance(limit: number): boolean;
  /** Removes what the logs have deleted, `limit` entries further on each call. Returns false at the end of a round. @throws Fault */
  sweep(limit: number): boolean;
  /** Lists messages with these words; null: all messages. `before`: those before this id. @throws Fault */
  list(words: string | null, before: number | null, limit: number): MailPage<M>;
}

export interface MailSearchOptions<M extends LoggedMail> {
  /** The path of the index, or `:memory:`. */
  readonly path: string;
  readonly logs: readonly SearchLog<M>[];
  readonly files: Pick<Files, 'unlink' | 'lstat'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

const IDS_PER_MS = 2048;
/** What is indexed before a list is read, so that what was just sent is found: messages per round, and rounds. */
const AT_ONCE = 100;
const ROUNDS = 3;

interface LogRow {
  readonly newest: number;
  readonly oldest: number;
  readonly is_done: number;
}

/**
 * Opens the search over the messages of these logs. The index is kept beside them, never in them: writing a message costs nothing
 * for it, and losing it costs nothing but time. It grows from the newest message to the oldest.
 */
export function openMailSearch<M extends LoggedMail>(options: MailSearchOptions<M>): MailSearch<M> {
  const { logs, clock, log } = options;
  const file = openIndexFile(options.path, options.files, log);
  let sweptTo = 0;

  /** Indexes one slice of one log. Returns whether there may be more. */
  function advanceLog(db: Database, source: SearchLog<M>, limit: number): boolean {
    const newest = source.newest();
    const known = db.prepare<LogRow>('SELECT newest, oldest, is_done FROM logs WHERE name = ?').get(source.name);
    if (known !== undefined && known.newest === newest && known.is_done === 1) return false;
    return runTransaction(db, () => {
      const before = readProgress(db, source.name, newest);
      const newer = before.newest < newest ? source.read(before.newest, 'newer', limit) : null;
      if (newer !== null) {
        for (const mail of newer.mails) add(db, source.name, mail);
        const reached = newer.last ?? newest;
        db.prepare('UPDATE logs SET newest = ? WHERE name = ?').run(reached, source.name);
        return reached < newest || before.is_done === 0;
      }
      if (before.is_done === 1) return false;
      const older = source.read(before.oldest, 'older', limit);
      // FTS5 writes a part of its own for each id that is smaller than the one before.
      for (const mail of older.mails.toReversed()) add(db, source.name, mail);
      db.prepare('UPDATE logs SET oldest = ?, is_done = ? WHERE name = ?').run(
        older.last ?? before.oldest,
        older.last === null ? 1 : 0,
        source.name,
      );
      return older.last !== null;
    });
  }

  /** Must run in a transaction, because another process may be indexing too. */
  function readProgress(db: Database, name: string, newest: number): LogRow {
    const known = db.prepare<LogRow>('SELECT newest, oldest, is_done FROM logs WHERE name = ?').get(name);
    if (known !== undefined && known.newest <= newest) return known;
    if (known !== undefined) {
      log.info(`the search index begins anew, because ${name} went back in time`);
      db.exec("DELETE FROM mail; DELETE FROM logs; INSERT INTO words (words) VALUES ('delete-all')");
    }
    db.prepare('INSERT INTO logs (name, newest, oldest, is_done) VALUES (?, ?, ?, 0)').run(name, newest, newest + 1);
    return { newest, oldest: newest + 1, is_done: 0 };
  }

  function add(db: Database, name: string, { ref, at, from, to, subject, text }: M): void {
    const id = findFreeId(db, Math.max(0, Math.min(at, clock.now())));
    const { changes } = db
      .prepare('INSERT INTO mail (id, log, ref) VALUES (?, ?, ?) ON CONFLICT (log, ref) DO NOTHING')
      .run(id, name, ref);
    if (changes === 0) return;
    db.prepare('INSERT INTO words (rowid, sender, recipient, subject, content) VALUES (?, ?, ?, ?, ?)').run(
      id,
      ...[from, to, subject, text.slice(0, SEARCHED_CHARS)],
    );
  }

  /** When a millisecond is full, the next one has room. */
  function findFreeId(db: Database, at: Instant): number {
    const last = db.prepare<{ id: number | null }>('SELECT max(id) AS id FROM mail WHERE id >= ? AND id < ?');
    for (let first = Math.floor(at) * IDS_PER_MS; ; first += IDS_PER_MS) {
      const id = (last.get(first, first + IDS_PER_MS)?.id ?? first - 1) + 1;
      if (id < first + IDS_PER_MS) return id;
    }
  }

  function remove(db: Database, ids: readonly number[]): void {
    if (ids.length === 0) return;
    runTransaction(db, () => {
      for (const id of ids) {
        db.prepare('DELETE FROM mail WHERE id = ?').run(id);
        db.prepare('DELETE FROM words WHERE rowid = ?').run(id);
      }
    });
  }

  const advance = (db: Database, limit: number): boolean =>
    logs.map((source) => advanceLog(db, source, limit)).some((hasMore) => hasMore);

  const find = (name: string, ref: number): M | null => logs.find((source) => source.name === name)?.find(ref) ?? null;

  return {
    advance: (limit) => file.use((db) => advance(db, limit)),
    sweep: (limit) =>
      file.use((db) => {
        const rows = db
          .prepare<EntryRow>('SELECT id, log, ref FROM mail WHERE id > ? ORDER BY id LIMIT ?')
          .all(sweptTo, limit);
        remove(
          db,
          rows.flatMap(({ id, log: name, ref }) => (find(name, ref) === null ? [id] : [])),
        );
        sweptTo = rows.length < limit ? 0 : (rows.at(-1)?.id ?? 0);
        return sweptTo > 0;
      }),
    list: (words, before, limit) =>
      file.use((db) => {
        const phrases = words === null ? [] : parsePhrases(words);
        let isComplete = false;
        for (let round = 0; round < ROUNDS && !isComplete; round += 1) isComplete = !advance(db, AT_ONCE);
        if (words !== null && phrases.length === 0) return { hits: [], hasMore: false, isComplete };
        const hits: MailHit<M>[] = [];
        const gone: number[] = [];
        let hasMore = false;
        for (const { id, log: name, ref } of iterate(db, formatMatch(phrases), before)) {
          const mail = find(name, ref);
          if (mail === null) gone.push(id);
          else if (hits.length === limit) {
            hasMore = true;
            break;
          } else {
            const marks = {
              from: findMarks(mail.from, phrases),
              subject: findMarks(mail.subject, phrases),
              text: findMarks(mail.text, phrases),
            };
            hits.push({ id, mail, marks });
          }
        }
        remove(db, gone);
        return { hits, hasMore, isComplete };
      }),
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}

interface EntryRow {
  readonly id: number;
  readonly log: string;
  readonly ref: number;
}

function iterate(db: Database, match: string, before: number | null): Iterable<EntryRow> {
  const end = before ?? Number.MAX_SAFE_INTEGER;
  if (match === '')
    return db.prepare<EntryRow>('SELECT id, log, ref FROM mail WHERE id < ? ORDER BY id DESC').iterate(end);
  return db
    .prepare<EntryRow>(
      `SELECT mail.id, mail.log, mail.ref FROM words CROSS JOIN mail ON mail.id = words.rowid
       WHERE words MATCH ? AND words.rowid < ? ORDER BY words.rowid DESC`,
    )
    .iterate(match, end);
}
