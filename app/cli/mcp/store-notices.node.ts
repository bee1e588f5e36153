import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../../core/ports/index.ts';
import { every, onDemand } from '../../../core/services/index.ts';
import type { Database } from '../../../core/state/index.ts';

/** What a check of the store found, or when it is worth another check although nobody writes. Null: not before a notice. */
export type StoreCheck<T> =
  | { readonly is: 'found'; readonly value: T }
  | { readonly is: 'nothing'; readonly againMs: number | null };

export interface StoreWait<T> {
  /** @throws Fault `database` */
  readonly open: () => Database;
  /** Reads the store. It holds no transaction when it returns. */
  readonly check: (db: Database) => StoreCheck<T>;
  readonly clock: Clock;
}

/** Notices of one transaction come within this time. */
const GATHER_MS = 5;
/** How soon it is tried again while another process writes. */
const BUSY_MS = 10;
/** Where the folder cannot be watched, as on some network disks, the store is checked so often. */
const UNWATCHED_MS = 1000;

/**
 * Checks the store once it is being watched, and again after each change by any process, until something is found; null when
 * `signal` aborted first. In between there are no timers: the system reports each write to the file.
 */
export async function waitForStore<T>({ open, check, clock }: StoreWait<T>, signal: AbortSignal): Promise<T | null> {
  using stack = new DisposableStack();
  let db = stack.use(open());
  let found: { readonly value: T } | null = null;
  const over = new AbortController();
  const stop = (): void => over.abort();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  stack.defer(() => signal.removeEventListener('abort', stop));
  let again: Disposable | null = null;
  stack.defer(() => again?.[Symbol.dispose]());
  const checks = onDemand({ name: 'store', gatherMs: GATHER_MS, round, clock });
  const folder = stack.use(watchFile(db.path, checks.wake, useTimer));
  await checks.run(over.signal);
  return found === null ? null : (found as { readonly value: T }).value;

  function round(): void {
    again?.[Symbol.dispose]();
    again = null;
    if (!db.isInPlace()) {
      db[Symbol.dispose]();
      db = stack.use(open());
    }
    // A write is reported before it is committed. Its writer has the only lock until then.
    const result = isBeingWritten(db) ? ({ is: 'nothing', againMs: BUSY_MS } as const) : check(db);
    if (result.is === 'found') {
      found = { value: result.value };
      over.abort();
    } else if (result.againMs !== null) again = clock.after(result.againMs, checks.wake);
  }

  function useTimer(): void {
    folder[Symbol.dispose]();
    void every({ name: 'unwatched store', ms: UNWATCHED_MS, round: checks.wake, clock }).run(over.signal);
  }
}

const SQLITE_BUSY = 5;

/** Whether another connection is in a transaction that writes. What was written before the call is committed when it is not. */
function isBeingWritten(db: Database): boolean {
  db.exec('PRAGMA busy_timeout = 0');
  try {
    db.exec('BEGIN IMMEDIATE');
    db.exec('ROLLBACK');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.exec('PRAGMA busy_timeout = 5000');
  }
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { readonly errcode?: unknown } | undefined) : undefined;
  return typeof cause?.errcode === 'number' && (cause.errcode & 0xff) === SQLITE_BUSY;
}

/** Calls `changed` when the database or its log is written, and `failed` once where that cannot be noticed. */
function watchFile(path: string, changed: () => void, failed: () => void): Disposable {
  let watcher: FSWatcher | null = null;
  const name = basename(path);
  try {
    watcher = watch(dirname(path), (_, file) => {
      if (file === null || file === name || file === `${name}-wal`) changed();
    });
    watcher.on('error', failed);
  } catch {
    queueMicrotask(failed); // no watches are left, or this disk has none
  }
  return { [Symbol.dispose]: () => watcher?.close() };
}
