import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { type PersonaId, SOURCE_PREFIXES } from '../model/index.ts';
import { getErrno, toIoFault } from './io-fault.ts';
import { toStem } from './stem.ts';

/** In the name of a file that is to become a stamp, and in no stem. */
export const STAMP_IN_MAKING = '+';
const LITTER_MS = 60_000;

/** Where it stands what the shell hook need not ask about, a file a persona, for the database in the same state directory. */
export function toPendingDir(database: string): string | null {
  return database === ':memory:' ? null : join(dirname(database), 'run', 'pending');
}

/**
 * Takes back what was said of these personas, or of all of them: durably, since mail that is committed next must not meet an
 * older stamp again after a power cut. To be called in the transaction that adds an item, before it is committed. A name of
 * the local hive is the id of a persona too, or stands behind `local-` in one (ARCHITECTURE, decision 2).
 *
 * @param names in the local hive, or ids
 * @throws Fault `unwritable`: a stamp is there and cannot be removed, so nothing may be added
 */
export function clearStamps(dir: string | null, names: Iterable<PersonaId> | 'everyone'): void {
  if (dir === null) return;
  try {
    let removed = false;
    const stamps = readStamps(dir);
    if (stamps.length === 0) return; // in a storm of mail, all of it after the first
    const cleared = names === 'everyone' ? null : toStems(names);
    for (const stem of cleared === null ? stamps : stamps.filter((name) => cleared.has(name))) {
      removed = removeStamp(join(dir, stem)) || removed;
    }
    if (removed) syncDir(dir);
  } catch (error) {
    throw toIoFault(error, dir, 'unwritable');
  }
}

/** False when none was there. */
export function removeStamp(path: string): boolean {
  try {
    fs.unlinkSync(path);
    return true;
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return false;
    throw error;
  }
}

function toStems(names: Iterable<PersonaId>): ReadonlySet<string> {
  const stems = new Set<string>();
  for (const name of names) stems.add(toStem(name)).add(toStem(`${SOURCE_PREFIXES.local}${name}`));
  return stems;
}

function readStamps(dir: string): readonly string[] {
  try {
    // Where no hook was ever installed there is no directory: an error would cost more than all else a mail does here.
    if (fs.statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
    return fs.readdirSync(dir).filter((name) => !isInMaking(dir, name));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw error;
  }
}

/** One that a kill left behind is none. */
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
