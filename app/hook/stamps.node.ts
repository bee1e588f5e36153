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

/** Where stamps are kept, and what writing one takes. */
export interface StampPlace {
  readonly run: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** What a look at the database and the gates found. */
export type StampFacts = Omit<Stamp, 'persona'>;

/** `busy`: somebody writes just now, and what is there is left as it is. */
export type StampResult = 'written' | 'unchanged' | 'removed' | 'busy';

/** A stamp is dated so much before the look: the clock of a file system goes by jiffies, up to 10 ms behind. */
const BACK_MS = 100;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/**
 * Says for the shell hook at which moments there is nothing for this persona, or takes back what was said.
 *
 * `look` runs while the database is locked for writing, and whoever adds an item calls `clearStamps` in the transaction
 * that adds it. So a stamp is either there before that transaction, which removes it, or made by a look that saw the item.
 * What changes without the database (the gates) is newer than the stamp, which bears the time before the look.
 *
 * @throws what `look` throws, Fault `unwritable` or `no-space`; there is no stamp then.
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

/** True when this connection alone may write now. Does not wait: a hook has no time to. */
function tryLock(db: Database): boolean {
  const { timeout } = db.prepare<{ timeout: number }>('PRAGMA busy_timeout').get() ?? { timeout: 5000 };
  db.exec('PRAGMA busy_timeout = 0');
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch {
    return false; // busy: the one who writes has taken its stamp away, or will be followed by another look
  } finally {
    db.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

/** What is there says the same, and nothing has changed since. */
function isUpToDate(path: string, text: string, gates: string): boolean {
  try {
    if (readText(realFiles, path) !== text) return false;
    const { mtimeMs } = fs.statSync(path);
    const changed = fs.statSync(gates, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.floor(changed / 1000) < Math.floor(mtimeMs / 1000); // in whole seconds, as some shells compare them
  } catch {
    return false; // none there, or one that cannot be read: written anew
  }
}

/** No fsync: what a power cut takes is asked for. */
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
