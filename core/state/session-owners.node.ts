import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { PersonaId } from '../model/index.ts';
import { realFiles } from '../ports/index.ts';

/** Ids that the script of the hooks can read, which is in the shell. */
const PLAIN_ID = /^[\w-]{1,100}$/;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/**
 * The directory of the owners for a database in the same state directory: the file `<id>` names the persona that announced the session
 * last. The script of the hooks reads it to find the stamp of a session whose persona nobody named. Null for a database in memory.
 */
export function toOwnersDir(database: string): string | null {
  return database === ':memory:' ? null : join(dirname(database), 'run', 'owners');
}

/**
 * Removes what is noted for these sessions. Call it in the transaction that changes whose they are, before the commit.
 * @throws Error when a note is there and cannot be removed
 */
export function removeOwners(dir: string | null, ids: readonly string[]): void {
  if (dir === null) return;
  for (const id of ids) if (PLAIN_ID.test(id)) fs.rmSync(join(dir, id), { force: true });
}

/**
 * Notes whose session it is. Call it while the database is locked for writing, and only what was committed. Never throws: without a note
 * each hook of the session asks the program.
 */
export function noteOwner(dir: string | null, id: string, persona: PersonaId): void {
  if (dir === null || !PLAIN_ID.test(id)) return;
  try {
    realFiles.mkdirAll(dir, PRIVATE_DIRECTORY);
    fs.writeFileSync(join(dir, id), `${persona}\n`, { flag: 'wx', mode: PRIVATE_FILE });
  } catch {
    // The disk is full: a note without a line end counts as none.
  }
}
