import * as fs from 'node:fs';
import { join } from 'node:path';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import type { Clock, Random } from '../../core/ports/index.ts';
import { type Database, type Dirs, errnoOf, ioFault, stemOf } from '../../core/state/index.ts';
import type { Passable } from './quiet.ts';
import { stampText } from './stamp-text.ts';

/** Where stamps are kept, and what writing one takes. */
export interface StampPlace {
  readonly dirs: Pick<Dirs, 'state' | 'run'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** What a look at the database and the gates found. */
export interface Looked {
  readonly quiet: readonly Passable[];
  readonly folders: readonly string[];
}

/** `busy`: somebody writes just now, and what is there is left as it is. */
export type Stamped = 'written' | 'unchanged' | 'removed' | 'busy';

/** A stamp is dated so much before the look: the clock of a file system goes by jiffies, up to 10 ms behind. */
const BACK_MS = 100;
/** In the name of a file that is to become a stamp, and in no stem. */
const MAKING = '+';
const LITTER_MS = 60_000;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

export const pendingDir = (run: string): string => join(run, 'pending');

/**
 * Says for the shell hook at which moments there is nothing for this persona, or takes back what was said.
 *
 * `look` runs while the database is locked for writing, and whoever adds an item calls `clearStamps` in the transaction
 * that adds it. So a stamp is either there before that transaction, which removes it, or made by a look that saw the item.
 * What changes without the database (gates, event files) is newer than the stamp, which bears the time before the look.
 *
 * @throws what `look` throws, Fault `unwritable` or `no-space`; there is no stamp then.
 */
export function stampPending(place: StampPlace, db: Database, persona: PersonaId, look: () => Looked): Stamped {
  const path = join(pendingDir(place.dirs.run), stemOf(persona));
  if (db.isTransaction || !locked(db)) return 'busy';
  try {
    const before = place.clock.now() - BACK_MS;
    const { quiet, folders } = look();
    const text = stampText({ persona, quiet, folders });
    if (text === null) return remove(path) ? 'removed' : 'unchanged';
    if (isStanding(place, persona, path, text)) return 'unchanged';
    write(place, path, text, before);
    return 'written';
  } catch (error) {
    remove(path);
    throw error instanceof Fault ? error : ioFault(error, path, 'unwritable');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK'); // nothing was written to it
  }
}

/**
 * Takes back what was said of a persona, or of all of them: durably, since mail that is committed next must not meet an
 * older stamp again after a power cut. To be called in the transaction that adds an item, before it is committed; for what
 * is not in the database before and after it is changed.
 *
 * @throws Fault `unwritable`: a stamp is there and can not be removed, so nothing may be added
 */
export function clearStamps(run: string, whose: PersonaId | { readonly is: 'everyone' }): void {
  const dir = pendingDir(run);
  try {
    const names = typeof whose === 'string' ? [stemOf(whose)] : namesIn(dir).filter((name) => !isBeingMade(dir, name));
    const removed = names.filter((name) => remove(join(dir, name))).length;
    if (removed > 0) syncDir(dir);
  } catch (error) {
    throw ioFault(error, dir, 'unwritable');
  }
}

/** True when this connection alone may write now. Does not wait: a hook has no time to. */
function locked(db: Database): boolean {
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
function isStanding({ dirs }: StampPlace, persona: PersonaId, path: string, text: string): boolean {
  try {
    if (fs.readFileSync(path, 'utf8') !== text) return false;
    const { mtimeMs } = fs.statSync(path);
    return changing(dirs.state, stemOf(persona)).every((one) => {
      const stat = fs.statSync(one, { throwIfNoEntry: false });
      return stat === undefined || Math.floor(stat.mtimeMs / 1000) < Math.floor(mtimeMs / 1000);
    });
  } catch {
    return false; // none there, or one that can not be read: written anew
  }
}

/** What is looked at without the database: newer than the stamp, or as old, means: ask. The script has the same two. */
export function changing(state: string, stem: string): readonly string[] {
  return [join(state, 'gates', stem), join(state, 'events', `events.${stem}.ndjson`)];
}

/** No fsync: what a power cut takes is asked for. */
function write({ random }: StampPlace, path: string, text: string, before: number): void {
  const temp = `${path}${MAKING}${random.hex(6)}`;
  const fd = openNew(temp);
  try {
    try {
      fs.writeFileSync(fd, text);
      fs.futimesSync(fd, before / 1000, before / 1000);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temp, path);
  } catch (error) {
    remove(temp);
    throw error;
  }
}

function openNew(temp: string): number {
  try {
    return fs.openSync(temp, 'wx', PRIVATE_FILE);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    fs.mkdirSync(join(temp, '..'), { recursive: true, mode: PRIVATE_DIRECTORY });
    return fs.openSync(temp, 'wx', PRIVATE_FILE);
  }
}

/** False when none was there. */
function remove(path: string): boolean {
  try {
    fs.unlinkSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return fs.readdirSync(dir);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** One that a kill left behind is none. */
function isBeingMade(dir: string, name: string): boolean {
  if (!name.includes(MAKING)) return false;
  const stat = fs.statSync(join(dir, name), { throwIfNoEntry: false });
  return stat === undefined || Date.now() - stat.mtimeMs < LITTER_MS;
}

function syncDir(dir: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(dir, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
