import { join } from 'node:path';
import { Fault, formatIso } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import {
  type Disk,
  getErrno,
  type PeekedDatabase,
  peekSqlite,
  readDatabaseStamp,
  toPeekFault,
} from '../../state/index.ts';
import type { SetItem } from '../source.ts';
import { NO_EPOCH } from '../source-tools.ts';
import { formatPayload, PAYLOAD_CHARS } from './payload.ts';
import { CODEX } from './settings.ts';

/** Everything that waits in a queue, as of one moment. */
export interface Queue {
  /** Names the file that was read: its number and inode. `none` while there is no file. */
  readonly epoch: string;
  /** The highest revision of a thread. */
  readonly revision: number;
  /** Only threads with a message. Messages that did not change are the same objects as before. */
  readonly threads: ReadonlyMap<string, readonly SetItem[]>;
}

export const NO_QUEUE: Queue = { epoch: NO_EPOCH, revision: 0, threads: new Map() };

export interface QueueOptions {
  readonly home: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
}

/** Reads the queue. Only what changed since the last reading is read again. */
export interface QueueReader {
  /** @throws Fault of the whole source; what was read last stays as it is then */
  read(): Promise<Queue>;
  /** Whether nobody wrote the file since it was read last. Makes no request to the database. */
  isUnchanged(name: string): boolean;
  readonly last: Queue;
}

/** A file may be written again within this time without another time of change. */
const COARSE_MS = 20;
const SCOPE = { is: 'source', key: CODEX } as const;
/** What a queue can hold as the id of a thread. It names a lock file and an argument of a program. */
export const THREAD_ID = /^[0-9a-zA-Z][\w-]{3,99}$/;

export function createQueueReader(options: QueueOptions): QueueReader {
  const { home, disk, clock, log } = options;
  const signal = new AbortController().signal; // a reading ends by itself within its busy time
  let last = NO_QUEUE;
  let lastFiles = '';
  let lastRead: { readonly name: string; readonly stamp: string; readonly at: number } | null = null;

  async function read(): Promise<Queue> {
    const files = listNumbered(disk, home, 'queue');
    let fault: Fault | null = null;
    for (const { name, number } of files) {
      const at = clock.monotonic();
      const path = join(home, name);
      const base = last.epoch.startsWith(`${number}:`) ? last : null;
      let peek = await peekSqlite(path, (db) => readQueue(db, base, options), { clock, signal });
      if (peek.is === 'read' && base !== null && base.epoch !== `${number}:${peek.identity}`)
        peek = await peekSqlite(path, (db) => readQueue(db, null, options), { clock, signal }); // another file
      if (peek.is === 'read') {
        lastRead = { name, stamp: peek.stamp, at };
        noteFiles(files, name);
        const epoch = `${number}:${peek.identity}`;
        return peek.value.epoch === epoch ? peek.value : { ...peek.value, epoch };
      }
      if (peek.is === 'absent') continue;
      fault ??= toPeekFault(peek, path, SCOPE);
      if (peek.is !== 'schema') break;
    }
    if (fault !== null) throw fault;
    return NO_QUEUE;
  }

  function noteFiles(files: readonly NumberedFile[], read: string): void {
    const others = files.flatMap(({ name }) => (name === read ? [] : [name]));
    const line = others.length === 0 ? '' : `codex: ${read} is read, and ${others.join(', ')} is not (in ${home})`;
    if (line !== lastFiles && line !== '') log.info(line);
    lastFiles = line;
  }

  return {
    async read() {
      last = await read();
      return last;
    },
    isUnchanged(name) {
      if (lastRead?.name !== name || clock.monotonic() - lastRead.at < COARSE_MS) return false;
      return readDatabaseStamp(join(home, name)) === lastRead.stamp;
    },
    get last() {
      return last;
    },
  };
}

interface NumberedFile {
  readonly name: string;
  readonly number: number;
}

/** The databases `NAME_N.sqlite`, the highest number first. None when the folder does not exist. @throws Fault `unreadable` */
export function listNumbered(disk: Disk, home: string, prefix: string): readonly NumberedFile[] {
  const pattern = new RegExp(`^${prefix}_(\\d{1,6})\\.sqlite$`);
  try {
    return disk.files
      .readdir(home)
      .flatMap((name) => {
        const number = pattern.exec(name)?.[1];
        return number === undefined ? [] : [{ name, number: Number(number) }];
      })
      .sort((a, b) => b.number - a.number);
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw new Fault('unreadable', `${home} cannot be read: ${String(error)}`, SCOPE, { cause: error });
  }
}

interface QueueRow {
  readonly id: string;
  readonly thread: string;
  readonly payload: unknown;
  readonly created: number;
  readonly updated: number;
}

const REVISION = 'SELECT max(revision) AS n FROM queued_thread_revisions';
const CHANGED = 'SELECT thread_id AS thread FROM queued_thread_revisions WHERE revision > ?';
const COLUMNS = `id, thread_id AS thread, substr(payload_json, 1, ${PAYLOAD_CHARS}) AS payload, created_at_ms AS created, updated_at_ms AS updated`;
const ALL = `SELECT ${COLUMNS} FROM queued_items ORDER BY thread_id, queue_order`;
const OF_THREAD = `SELECT ${COLUMNS} FROM queued_items WHERE thread_id = ? ORDER BY queue_order`;

/** The end of the year 9999. */
const LATEST_MS = 253_402_300_799_999;

/** When nothing changed, this reads one indexed row and returns `base`. */
function readQueue(db: PeekedDatabase, base: Queue | null, { contentChars }: QueueOptions): Queue {
  const revision = db.get<{ n: number | null }>(REVISION)?.n ?? 0;
  if (base !== null && revision === base.revision) return base;
  const isContinued = base !== null && revision > base.revision;
  const rows = isContinued
    ? db.all<{ thread: string }>(CHANGED, base.revision).map(({ thread }) => ({
        thread,
        items: db.all<QueueRow>(OF_THREAD, thread),
      }))
    : [...Map.groupBy(db.all<QueueRow>(ALL), ({ thread }) => thread)].map(([thread, items]) => ({ thread, items }));
  const threads = new Map(isContinued ? base.threads : []);
  for (const { thread, items } of rows) {
    const before = new Map(threads.get(thread)?.map((item) => [`${item.key} ${item.fingerprint}`, item]));
    const toKnownItem = (row: QueueRow): SetItem => before.get(`${row.id} ${row.updated}`) ?? toItem(row, contentChars);
    if (items.length === 0) threads.delete(thread);
    else threads.set(thread, items.map(toKnownItem));
  }
  return { epoch: base?.epoch ?? '', revision, threads };
}

function toItem({ id, payload, created, updated }: QueueRow, contentChars: number | null): SetItem {
  return {
    ...{ key: String(id), fingerprint: `${updated}`, appeared: 'new', changed: null, vanished: 'gone' },
    from: null,
    created: toTime(created),
    content: contentChars === null ? null : formatPayload(payload, contentChars),
    extra: {},
  };
}

function toTime(ms: unknown): string | null {
  return typeof ms === 'number' && ms >= 0 && ms <= LATEST_MS ? formatIso(ms) : null;
}
