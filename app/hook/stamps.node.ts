import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import { type Clock, type Random, realFiles } from '../../core/ports/index.ts';
import {
  type Database,
  getErrno,
  readText,
  removeStamp,
  STAMP_IN_MAKING,
  toIoFault,
  toStem,
} from '../../core/state/index.ts';
import { formatStamp, type Stamp } from './stamp-text.ts';

/** The directory of stamps, and what writing one needs. */
export interface StampPlace {
  readonly run: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** What was read from the database and the gates. */
export type StampFacts = Omit<Stamp, 'persona'>;

/** `busy` means that another process is just writing, so the existing stamp stays as it is. */
export type StampResult = 'written' | 'unchanged' | 'removed' | 'busy';

/**
 * A stamp is dated this much before the read, because the clock of a file system advances by jiffies and is up to 10 ms behind.
 */
const BACK_MS = 100;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/**
 * Writes the stamp that tells the shell hook at which moments there is nothing for this persona, or removes it.
 *
 * `readFacts` runs while the database is locked for writing, and whoever adds an item calls `clearStamps` in the transaction that
 * adds it. So either the stamp exists before that transaction, which removes it, or `readFacts` saw the item. A change outside
 * the database (of the gates) is newer than the stamp, which has the time before the read.
 *
 * @throws what `readFacts` throws, Fault `unwritable` or `no-space`; there is no stamp then.
 */
export function stampPending(
  place: StampPlace,
  db: Database,
  persona: PersonaId,
  readFacts: () => StampFacts,
): StampResult {
  const path = join(place.run, 'pending', toStem(persona));
  if (db.isTransaction || !tryLock(db)) return 'busy';
  try {
    const before = place.clock.now() - BACK_MS;
    const facts = readFacts();
    const text = formatStamp({ persona, ...facts });
    if (text === null) return removeStamp(path) ? 'removed' : 'unchanged';
    if (isUpToDate(path, text, facts.gates)) return 'unchanged';
    write(place, path, text, before);
    return 'written';
  } catch (error) {
    removeStamp(path);
    throw error instanceof Fault ? error : toIoFault(error, path, 'unwritable');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK'); // nothing was written to it
  }
}

/** Returns true when only this connection may write now. It does not wait, because a hook has no time. */
function tryLock(db: Database): boolean {
  const { timeout } = db.prepare<{ timeout: number }>('PRAGMA busy_timeout').get() ?? { timeout: 5000 };
  db.exec('PRAGMA busy_timeout = 0');
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch {
    return false; // busy: the writer has removed its stamp, or a later call will write one
  } finally {
    db.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

/** Returns whether the existing stamp has the same text and nothing has changed since. */
function isUpToDate(path: string, text: string, gates: string): boolean {
  try {
    if (readText(realFiles, path) !== text) return false;
    const { mtimeMs } = fs.statSync(path);
    const changed = fs.statSync(gates, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.floor(changed / 1000) < Math.floor(mtimeMs / 1000); // in whole seconds, as some shells compare them
  } catch {
    return false; // there is none, or it cannot be read: written again
  }
}

/** There is no fsync: if a power cut removes the stamp, the hook starts the program. */
function write({ random }: StampPlace, path: string, text: string, before: number): void {
  const temp = `${path}${STAMP_IN_MAKING}${random.hex(6)}`;
  const fd = openNew(temp);
  try {
    try {
      fs.writeFileSync(fd, text);
      fs.futimesSync(fd, before / 1000, before / 1000);
    } finally {
      fs.closeSync(fd);
    }
    realFiles.rename(temp, path);
  } catch (error) {
    removeStamp(temp);
    throw error;
  }
}

function openNew(temp: string): number {
  try {
    return fs.openSync(temp, 'wx', PRIVATE_FILE);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error;
    realFiles.mkdirAll(dirname(temp), PRIVATE_DIRECTORY);
    return fs.openSync(temp, 'wx', PRIVATE_FILE);
  }
}
