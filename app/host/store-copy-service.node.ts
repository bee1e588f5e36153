import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fact } from '../../core/board/index.ts';
import { Fault } from '../../core/model/index.ts';
import { type Clock, type Log, realFiles } from '../../core/ports/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { COPIED_HERE_BYTES, copyStore, type Database, markSuspect, toCopyPath } from '../../core/state/index.ts';

export interface StoreCopy extends Disposable {
  readonly services: readonly Service[];
  /** Makes the last copy, unless the store is large. */
  [Symbol.dispose](): void;
}

interface StoreCopyOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly put: (fact: Fact) => void;
  /** Called when the store is found damaged. */
  readonly onDamage: () => void;
}

const FIRST_MS = 60_000;
const EVERY_MS = 600_000;
/** One damaged frame in the write-ahead log loses everything that is only in the log, so nothing stays there for long. */
const CHECKPOINT_MS = 30_000;
const CHILD_MS = 300_000;
const DAMAGED = { is: 'machine', key: 'store-check' } as const;

/** A program that copies a large store without blocking this process. It reports errors on stderr and exits with 1. */
const PROGRAM = `
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(process.argv[1], { timeout: 5000 });
process.umask(0o077);
db.exec("VACUUM INTO '" + process.argv[2].replaceAll("'", "''") + "'");
const [{ quick_check: found }] = db.prepare('PRAGMA quick_check(1)').all();
if (found !== 'ok') throw new Error(found);
const fs = require('node:fs');
const fd = fs.openSync(process.argv[2], 'r+');
fs.fsyncSync(fd);
`;

/**
 * Keeps a copy of the store that is known to be sound. The copy is made a minute after the start, then every ten minutes, and at
 * a clean end, each time only if something changed. When the store is found damaged, that is a cause on the board, and the older
 * copy stays.
 */
export function createStoreCopy(db: Database, { clock, log, put, onDamage }: StoreCopyOptions): StoreCopy {
  const target = `${toCopyPath(db.path)}.tmp`;
  let copied = '';
  let warned = false;
  let isOver = false;

  const readSize = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  /** Describes the state of both files by size and time of change. */
  function stamp(): string {
    const stats = [db.path, `${db.path}-wal`].map((path) => lstatSync(path, { throwIfNoEntry: false }));
    return stats.map((stat) => `${stat?.size ?? 0} ${stat?.mtimeMs ?? 0}`).join();
  }

  function failed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (!warned) log.warn(`${db.path} could not be copied, so the older copy is kept: ${why}`);
    warned = true;
    if (!/malformed|damaged|page|btree|rowid|Tree/i.test(why)) return;
    const fault = new Fault(
      'store-damaged',
      `${db.path} is damaged; restart Hivebar to recover what can be read`,
      DAMAGED,
    );
    put({ is: 'machine', at: clock.now(), key: DAMAGED.key, fault });
    markSuspect(db.path);
    onDamage();
  }

  function copyElsewhere(): void {
    rmSync(target, { force: true });
    const args = ['--no-warnings', '--input-type=commonjs', '-e', PROGRAM, db.path, target];
    execFile(process.execPath, args, { timeout: CHILD_MS, killSignal: 'SIGKILL' }, (error, _, stderr) => {
      if (isOver) return rmSync(target, { force: true });
      if (error === null) realFiles.rename(target, toCopyPath(db.path));
      else failed(/Error: (.*)/.exec(stderr)?.[1] ?? error.message);
    });
  }

  function copy(isLast: boolean): void {
    const now = stamp();
    if (now === copied || !db.isInPlace()) return;
    const isLarge = readSize(db.path) + readSize(`${db.path}-wal`) > COPIED_HERE_BYTES;
    if (isLarge && isLast) return;
    try {
      if (isLarge) copyElsewhere();
      else copyStore(db);
      copied = now;
    } catch (error) {
      failed(error);
    }
  }

  function checkpoint(): void {
    try {
      if (readSize(`${db.path}-wal`) > 0 && !db.isTransaction) db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    } catch (error) {
      log.info(`the write-ahead log of the database could not be truncated: ${String(error)}`); // a reader holds it; the next checkpoint tries again
    }
  }

  return {
    services: [
      every({ name: 'store copy', firstMs: FIRST_MS, ms: EVERY_MS, clock, round: () => copy(false) }),
      every({
        name: 'database checkpoint',
        firstMs: CHECKPOINT_MS,
        ms: CHECKPOINT_MS,
        clock,
        round: checkpoint,
      }),
    ],
    [Symbol.dispose]() {
      isOver = true;
      copy(true);
    },
  };
}

/** A copy of the durable state, to be read while the disk of the original is full. */
interface MemoryCopy extends Disposable {
  readonly directory: string;
}

/**
 * Copies these files of a directory to another disk, into a folder that only this user can read. Memory is tried before other
 * disks. Returns null when no other disk has room.
 */
export function copyToAnotherDisk(directory: string, names: readonly string[]): MemoryCopy | null {
  const { dev } = statSync(directory);
  for (const place of ['/dev/shm', process.env.XDG_RUNTIME_DIR ?? '', tmpdir()]) {
    if (place === '' || !existsSync(place) || statSync(place).dev === dev) continue;
    const copy = copyInto(place, directory, names);
    if (copy !== null) return copy;
  }
  return null;
}

function copyInto(place: string, directory: string, names: readonly string[]): MemoryCopy | null {
  let to: string | null = null;
  try {
    to = mkdtempSync(join(place, 'hivebar-')); // with mode 0700
    const copy = to;
    for (const name of names)
      if (existsSync(join(directory, name))) copyFileSync(join(directory, name), join(copy, name));
    mkdirSync(join(copy, 'events'), { mode: 0o700 });
    return { directory: copy, [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }) };
  } catch {
    if (to !== null) rmSync(to, { recursive: true, force: true });
    return null; // this place does not exist: the caller does without a copy
  }
}
