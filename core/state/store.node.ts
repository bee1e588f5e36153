import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../model/index.ts';
import { type Log, pause, realFiles, silentLog } from '../ports/index.ts';
import { type Database, isDamage, isSchemaWhole, listenForDamage, openDatabase } from './database.node.ts';
import { createRealDisk } from './disk.node.ts';
import { type Lock, lockFile } from './lock.node.ts';
import { readText } from './safe-open.ts';
import { flush, salvage, type TableSalvage } from './salvage.node.ts';

/** What happened to the store and what was done. The report stays beside the store until a person moves it away. */
export interface StoreReport {
  /** ISO time. */
  readonly at: string;
  /** The problem: `is missing`, `is empty`, or what SQLite reported. */
  readonly problem: string;
  /** Where the damaged file is now; null when there was none. */
  readonly setAside: string | null;
  /** When the copy that was used was made, as ISO time; null when there was none. */
  readonly copyOf: string | null;
  readonly tables: readonly TableSalvage[];
  /** Whether messages that only event files had were put back since. */
  readonly isFilled: boolean;
}

export interface OpenStoreOptions {
  readonly busyMs?: number;
  readonly compiles?: 'at once' | 'when used';
  /** Whether the whole file is checked, indexes included, when that takes less than a second or damage was met before. */
  readonly checks?: boolean;
  /** Called each time a later statement meets damage. The next start with `checks` reads the whole file then. */
  readonly onDamage?: () => void;
  /** Gets the result when this call repairs a damaged store. */
  readonly log?: Log;
}

/** SQLite checks this many bytes in a quarter of a second. */
const CHECKED_BYTES = 16 * 1024 * 1024;
/** A larger store is copied by a separate process. */
export const COPIED_HERE_BYTES = 8 * 1024 * 1024;
/** The problem when the tables are not as they were recorded. */
const SCHEMA_CHANGED = 'the text of its tables was changed';
const REPAIR_WAIT_MS = 30_000;
const MOST_SET_ASIDE = 5;
const MOST_REPORT_BYTES = 64 * 1024;

export const toCopyPath = (path: string): string => `${path}.last-good`;
export const toReportPath = (path: string): string => `${path}.report.json`;
const toRecoveredPath = (path: string): string => `${path}.recovered`;
const getSuspectPath = (path: string): string => `${path}.suspect`;

/** Records that damage was met while the store was in use. The next check at start reads the whole file, however large it is. */
export function markSuspect(path: string): void {
  try {
    fs.writeFileSync(getSuspectPath(path), '', { mode: 0o600 });
  } catch {
    // The disk is full: the next start meets the damage again.
  }
}

/**
 * Opens the store, as `openDatabase` does, and repairs it if needed. A damaged store is set aside, and a new one is built from
 * what can be read in it and in the last good copy. A store that is missing or empty, while files of an earlier one exist, is
 * rebuilt from the copy.
 * Each repair is written to a report (see `readStoreReport`). Any program may be the first to find the damage: one repairs it,
 * the others wait.
 *
 * @throws Fault `database`
 */
export function openStore(path: string, options: OpenStoreOptions = {}): Database {
  const problem = findMissing(path) ?? findDamage(path, options);
  const isOpen = problem !== null && typeof problem !== 'string';
  const db = isOpen ? problem : problem === null ? openPlain(path, options) : openRepaired(path, problem, options);
  listenForDamage(path, () => {
    markSuspect(path);
    options.onDamage?.();
  });
  return db;
}

function openPlain(path: string, { busyMs, compiles }: OpenStoreOptions): Database {
  return openDatabase(path, busyMs, compiles);
}

/** The problem when the store is missing or empty. Null when a file is there, or nothing ever was. */
function findMissing(path: string): string | null {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isFile() || found.size > 0)) return null;
  return hasPast(path) ? (found === undefined ? 'is missing' : 'is empty') : null;
}

/** Whether an earlier store left something: a copy, events, or an unfinished repair or commit. */
function hasPast(path: string): boolean {
  const folder = dirname(path);
  const has = (name: string): boolean => (fs.lstatSync(name, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (has(toCopyPath(path)) || has(toRecoveredPath(path)) || has(join(folder, 'outbox.journal'))) return true;
  const events = join(folder, 'events');
  return fs.lstatSync(events, { throwIfNoEntry: false })?.isDirectory() === true && fs.readdirSync(events).length > 0;
}

/** The open database, or the problem with it. @throws Fault `database` for anything but damage */
function findDamage(path: string, options: OpenStoreOptions): Database | string {
  let db: Database | null = null;
  try {
    db = openPlain(path, options);
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    if (options.checks === true && !isSchemaWhole(db)) {
      db[Symbol.dispose]();
      return SCHEMA_CHANGED;
    }
    const size = fs.lstatSync(path).size;
    if (options.checks !== true || (size > CHECKED_BYTES && !fs.existsSync(getSuspectPath(path)))) return db;
    // `quick_check` skips indexes, and one damaged index entry stops every program that writes beside it.
    const [flaw] = db.prepare<{ integrity_check: string }>('PRAGMA integrity_check(1)').all();
    if (flaw === undefined || flaw.integrity_check === 'ok') {
      fs.rmSync(getSuspectPath(path), { force: true });
      return db;
    }
    db[Symbol.dispose]();
    return flaw.integrity_check.split('\n').at(-1) ?? 'is damaged';
  } catch (error) {
    db?.[Symbol.dispose]();
    if (error instanceof Fault && isDamage(error)) return error.message.replace(`${path}: `, '');
    throw error;
  }
}

function openRepaired(path: string, found: string, options: OpenStoreOptions): Database {
  using _lock = waitForLock(path, options.busyMs ?? REPAIR_WAIT_MS);
  // Another process may have repaired it meanwhile.
  const problem = findMissing(path) ?? (fs.existsSync(path) ? findDamage(path, options) : found);
  if (typeof problem !== 'string') return problem;
  repair(path, problem);
  const report = readStoreReport(path);
  if (report !== null) options.log?.warn(formatStoreReport(path, report));
  return openPlain(path, options);
}

function waitForLock(path: string, mostMs: number): Lock {
  const disk = createRealDisk(silentLog);
  for (let waited = 0; ; waited += 50) {
    try {
      return lockFile(disk, `${path}.repair`);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'lock-held' || waited > mostMs) throw error;
      pause(50);
    }
  }
}

function repair(path: string, problem: string): void {
  const at = new Date().toISOString();
  const recovered = toRecoveredPath(path);
  const damaged = fs.lstatSync(path, { throwIfNoEntry: false });
  const hasDamaged = damaged !== undefined && damaged.size > 0;
  const isDone = !hasDamaged && fs.existsSync(recovered); // an earlier repair was killed between the two renames
  const copy = fs.lstatSync(toCopyPath(path), { throwIfNoEntry: false });
  const copyOf = copy === undefined ? null : copy.mtime.toISOString();
  const tables = isDone ? [] : rebuild(path, problem === SCHEMA_CHANGED, hasDamaged, copy !== undefined, recovered);
  const setAside = hasDamaged ? `${path}.damaged-${at.replaceAll(/[-:]|\.\d+/g, '')}` : null;
  if (!isDone || readStoreReport(path) === null)
    writeStoreReport(path, { at, problem, setAside, copyOf, tables: tables ?? [], isFilled: false });
  if (setAside !== null) {
    realFiles.rename(path, setAside);
    if (fs.existsSync(`${path}-wal`)) realFiles.rename(`${path}-wal`, `${setAside}-wal`);
  }
  for (const suffix of ['-wal', '-shm']) fs.rmSync(path + suffix, { force: true });
  if (fs.existsSync(recovered)) realFiles.rename(recovered, path);
  else if (damaged !== undefined && setAside === null) fs.rmSync(path, { force: true });
  fs.rmSync(getSuspectPath(path), { force: true });
  flushDirectory(dirname(path));
  forgetOldest(path);
}

/** Builds the new file from what can be read. Null when nothing can be read. */
function rebuild(
  path: string,
  isSchemaBad: boolean,
  hasDamaged: boolean,
  hasCopy: boolean,
  target: string,
): readonly TableSalvage[] | null {
  const copy = hasCopy ? toCopyPath(path) : null;
  // SQLite changes a file that it opens with a write-ahead log, so it works on a copy under another name.
  const readPath = `${path}.looked-at`;
  const source = hasDamaged ? readPath : null;
  try {
    if (hasDamaged) {
      fs.copyFileSync(path, readPath);
      fs.chmodSync(readPath, 0o600);
      if (fs.existsSync(`${path}-wal`)) fs.copyFileSync(`${path}-wal`, `${readPath}-wal`);
      mendHeader(readPath, copy);
    }
    try {
      return salvage(source, copy, target, isSchemaBad);
    } catch {
      // The rows that were read do not form a sound database together; the copy alone does.
      return copy === null ? removeTarget(target) : tryOrRemove(() => salvage(null, copy, target), target);
    }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) fs.rmSync(readPath + suffix, { force: true });
  }
}

const MAGIC = Buffer.from('SQLite format 3\u0000', 'latin1');
const HEADER_BYTES = 100;

/** Repairs a file in which only the first bytes are wrong. All its rows are there, and the header in the copy says the same. */
function mendHeader(path: string, copy: string | null): void {
  const firstBytes = (file: string): Buffer => {
    const bytes = Buffer.alloc(HEADER_BYTES);
    const fd = fs.openSync(file, 'r');
    try {
      fs.readSync(fd, bytes, 0, HEADER_BYTES, 0);
    } finally {
      fs.closeSync(fd);
    }
    return bytes;
  };
  if (firstBytes(path).subarray(0, MAGIC.length).equals(MAGIC)) return;
  const header = copy === null ? Buffer.from(MAGIC) : firstBytes(copy);
  // These fields hold how many pages there are, and which are free. The copy has fewer pages; with 0, SQLite finds out itself.
  if (header.length > MAGIC.length) header.fill(0, 28, 40);
  const fd = fs.openSync(path, 'r+');
  try {
    fs.writeSync(fd, header, 0, header.length, 0);
  } finally {
    fs.closeSync(fd);
  }
}

function tryOrRemove(work: () => readonly TableSalvage[] | null, target: string): readonly TableSalvage[] | null {
  try {
    return work();
  } catch {
    return removeTarget(target); // the copy is no better: the store begins empty, which the report says
  }
}

function removeTarget(target: string): null {
  for (const suffix of ['', '-wal', '-shm', '-journal']) fs.rmSync(target + suffix, { force: true });
  return null;
}

/** Removes all but the newest damaged files. They hold mail, so some are kept; all of them would fill the disk. */
function forgetOldest(path: string): void {
  const prefix = `${basename(path)}.damaged-`;
  const names = fs.readdirSync(dirname(path)).filter((name) => name.startsWith(prefix) && !name.endsWith('-wal'));
  for (const name of names.sort().slice(0, -MOST_SET_ASIDE))
    for (const suffix of ['', '-wal']) fs.rmSync(join(dirname(path), name + suffix), { force: true });
}

/** The report of the last repair. Null when nothing happened, or a person has moved the report away. */
export function readStoreReport(path: string): StoreReport | null {
  try {
    return JSON.parse(readText(realFiles, toReportPath(path), MOST_REPORT_BYTES) ?? '') as StoreReport;
  } catch {
    return null; // the report does not exist or cannot be read, so it is not shown any more
  }
}

export function writeStoreReport(path: string, report: StoreReport): void {
  const temp = `${toReportPath(path)}.tmp`;
  fs.writeFileSync(temp, `${JSON.stringify(report, null, 1)}\n`, { mode: 0o600 });
  flush(temp);
  realFiles.rename(temp, toReportPath(path));
}

/** The report in one sentence, for a person. */
export function formatStoreReport(path: string, { at, problem, setAside, copyOf, tables }: StoreReport): string {
  const inbox = tables.find(({ table }) => table === 'inbox');
  const subject = setAside === null ? `${path} ${problem}` : `${path} was damaged (${problem}) and is now ${setAside}`;
  const rows = (n: number, where: string): string => `${n} messages were recovered from ${where}`;
  const parts = [
    `${subject} (${at.slice(0, 16).replace('T', ' ')} UTC)`,
    inbox === undefined ? 'no message could be recovered from it' : '',
    inbox === undefined || inbox.read === 0 ? '' : rows(inbox.read, 'the file itself'),
    inbox === undefined || inbox.fromCopy === 0
      ? ''
      : rows(inbox.fromCopy, `the copy of ${copyOf?.slice(0, 16).replace('T', ' ')} UTC`),
    copyOf === null ? 'there was no copy' : '',
    inbox !== undefined && !inbox.isBroken
      ? 'none is known to be lost'
      : 'newer messages that are in no event file are lost',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

/**
 * Replaces the last good copy and checks the store meanwhile. The older copy stays when anything is wrong.
 * @throws Fault `database`, and what the file system throws
 */
export function copyStore(db: Database): void {
  const target = `${toCopyPath(db.path)}.tmp`;
  try {
    fs.rmSync(target, { force: true });
    fs.closeSync(fs.openSync(target, 'wx', 0o600));
    db.exec(`VACUUM INTO '${target.replaceAll("'", "''")}'`);
    const [flaw] = db.prepare<{ quick_check: string }>('PRAGMA quick_check(1)').all();
    if (flaw?.quick_check !== 'ok') throw new Error(`${db.path} is damaged: ${flaw?.quick_check}`);
    flush(target);
    realFiles.rename(target, toCopyPath(db.path));
    flushDirectory(dirname(db.path));
  } catch (error) {
    fs.rmSync(target, { force: true });
    throw error;
  }
}

function flushDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(directory, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
