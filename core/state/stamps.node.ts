import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { LOCAL_PREFIX, type PersonaId } from '../model/index.ts';
import { getErrno, toIoFault } from './safe-open.ts';
import { toStem } from './stem.ts';

/** Occurs in the name of a file that is to become a stamp, and in no stem. */
export const STAMP_IN_MAKING = '+';
const LITTER_MS = 60_000;

/**
 * The directory of the stamps for a database in the same state directory. A stamp is one file per persona and means that the
 * shell hook need not ask. Null for a database in memory.
 */
export function toPendingDir(database: string): string | null {
  return database === ':memory:' ? null : join(dirname(database), 'run', 'pending');
}

/**
 * Removes the stamps of these personas, or all of them. The removal is durable, so that mail that is committed next never meets
 * an older stamp after a power cut. Call it in the transaction that adds an item, before the commit.
 * A name of the local hive is a persona id too, or follows `local-` in one (ARCHITECTURE, decision 2).
 *
 * @param names in the local hive, or ids
 * @throws Fault `unwritable` when a stamp exists and cannot be removed; then nothing may be added
 */
export function clearStamps(dir: string | null, names: Iterable<PersonaId> | 'everyone'): void {
  if (dir === null) return;
  try {
    let removed = false;
    const stamps = readStamps(dir);
    if (stamps.length === 0) return; // the usual case in a burst of mail, after its first item
    const cleared = names === 'everyone' ? null : toPersonaStems(names);
    for (const stem of cleared === null ? stamps : stamps.filter((name) => cleared.has(name))) {
      removed = removeStamp(join(dir, stem)) || removed;
    }
    if (removed) syncDir(dir);
  } catch (error) {
    throw toIoFault(error, dir, 'unwritable');
  }
}

/** Returns false when there was no stamp. */
export function removeStamp(path: string): boolean {
  try {
    fs.unlinkSync(path);
    return true;
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Returns the stems of files about these personas: of each name, and of the id that follows `local-`. */
export function toPersonaStems(names: Iterable<PersonaId>): ReadonlySet<string> {
  const stems = new Set<string>();
  for (const name of names) stems.add(toStem(name)).add(toStem(`${LOCAL_PREFIX}${name}`));
  return stems;
}

function readStamps(dir: string): readonly string[] {
  try {
    // Where no hook was ever installed there is no directory. An exception here would cost more than all other work for a
    // message.
    if (fs.statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
    return fs.readdirSync(dir).filter((name) => !isInMaking(dir, name));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A temporary name that a kill left behind does not count as being made. */
function isInMaking(dir: string, name: string): boolean {
  if (!name.includes(STAMP_IN_MAKING)) return false;
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
