import { join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type Disk, type PeekedDatabase, peekSqlite } from '../../state/index.ts';
import { listNumbered } from './queue.ts';

/** What Codex knows of a thread. */
export interface ThreadInfo {
  readonly label: string | null;
  /** Its folder; null when it names none that is absolute. */
  readonly cwd: string | null;
  readonly model: string | null;
  readonly isArchived: boolean;
}

interface ThreadsOptions {
  readonly home: string;
  readonly disk: Disk;
  readonly clock: Clock;
}

const COLUMNS = ['name', 'title', 'cwd', 'model', 'archived'] as const;
type ThreadRow = { readonly [Key in (typeof COLUMNS)[number]]?: unknown };
/** Of a text column. Metadata of a thread may be very large (Codex contract 4). */
const MOST_CHARS = 4096;

/**
 * Reads what Codex knows of these threads, each by its key. A thread that is not there is not in the answer. Null when it cannot be
 * read now: labels are worth no outage.
 */
export async function readThreads(
  ids: readonly string[],
  { home, disk, clock }: ThreadsOptions,
): Promise<ReadonlyMap<string, ThreadInfo> | null> {
  const { signal } = new AbortController();
  for (const { name } of listNumbered(disk, home, 'state')) {
    const peek = await peekSqlite(join(home, name), (db) => readRows(db, ids), { clock, signal });
    if (peek.is === 'read') return peek.value;
    if (peek.is !== 'schema' && peek.is !== 'absent') return null;
  }
  return null;
}

function readRows(db: PeekedDatabase, ids: readonly string[]): ReadonlyMap<string, ThreadInfo> {
  const known = new Set(
    db.all<{ name: string }>(`SELECT name FROM pragma_table_info('threads')`).map(({ name }) => name),
  );
  // Older versions have fewer columns.
  const columns = COLUMNS.filter((column) => known.has(column)).map(
    (column) => `substr(${column}, 1, ${MOST_CHARS}) AS ${column}`,
  );
  const sql = `SELECT ${['id', ...columns].join(', ')} FROM threads WHERE id = ?`;
  return new Map(
    ids.flatMap((id) => {
      const row = db.get<ThreadRow>(sql, id);
      return row === undefined ? [] : [[id, toThreadInfo(row)] as const];
    }),
  );
}

const LABEL_CHARS = 80;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Label: the name, else the title, else the last folder of its path (Codex contract 4). */
function toThreadInfo({ name, title, cwd, model, archived }: ThreadRow): ThreadInfo {
  const folder = toText(cwd);
  const isAbsolute = folder !== null && /^(?:\/|[a-z]:[\\/])/i.test(folder) && !/\p{Cc}/u.test(folder);
  return {
    label: toLabel(name) ?? toLabel(title) ?? toLabel(folder?.split(/[/\\]/).findLast((part) => part !== '')),
    cwd: isAbsolute ? folder : null,
    model: toLabel(model),
    isArchived: archived === '1' || archived === 1,
  };
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function toLabel(value: unknown): string | null {
  const text = toText(value)?.toWellFormed().replaceAll(INVISIBLE, ' ').trim() ?? '';
  return text === '' ? null : [...text].slice(0, LABEL_CHARS).join('');
}
