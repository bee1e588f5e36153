import { join } from 'node:path';
import type { PersonaId } from '../model/index.ts';
import type { Random } from '../ports/index.ts';
import { type Disk, getErrno, readPrivate, toStem, writeAtomically } from '../state/index.ts';

const MOST_BYTES = 4096;

/**
 * The file with the address at which the runner of a persona can be asked to wake it. A daemon reads it, because it opens no
 * database.
 */
export function toWakeFile(run: string, persona: PersonaId): string {
  return join(run, 'wakes', toStem(persona));
}

/** Null removes the address. @throws Fault `unwritable` or `no-space` */
export function writeWake(disk: Disk, random: Random, path: string, url: string | null): void {
  if (url !== null) {
    writeAtomically(disk, random, path, `${url}\n`);
    return;
  }
  try {
    disk.files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error;
  }
}

/** Reads the address; null: there is none. @throws Fault `unreadable` */
export function readWake(disk: Disk, path: string): string | null {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  const url = bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim();
  return url === '' ? null : url;
}
