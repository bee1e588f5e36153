import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { PersonaId } from '../model/index.ts';
import { getErrno } from './safe-open.ts';
import { toPersonaStems } from './stamps.node.ts';

/** A pipe that nobody has open is removed after this time: its waiter was killed. A new waiter opens its pipe at once. */
const LITTER_MS = 60_000;
/** Longer than a waiter waits, which is a week. */
const MOST_MS = 8 * 86_400_000;
const { O_WRONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants;

/**
 * The directory of the waiters for a database in the same state directory: `<stem>/<session>.<pid>` is the pipe of a waiter, and
 * `<stem>/<session>` names the pid of the one that counts. Null for a database in memory.
 */
export function toWaitersDir(database: string): string | null {
  return database === ':memory:' ? null : join(dirname(database), 'run', 'waiters');
}

/**
 * Rings the waiters of these personas, or all of them. A ring says nothing: each waiter looks what waits. Call it in the
 * transaction that adds an item, because the look waits for the end of that transaction, and a kill after the commit then loses no
 * ring. Never throws: an agent without a waiter gets its mail at its next turn boundary.
 *
 * @param names in the local hive, or ids
 * @returns the sessions whose waiter was rung
 */
export function ringWaiters(dir: string | null, names: Iterable<PersonaId> | 'everyone'): readonly string[] {
  if (dir === null) return [];
  try {
    // Where no waiter ever ran there is no directory. An exception here would cost more than all other work for a message.
    if (fs.statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
    const stems = names === 'everyone' ? fs.readdirSync(dir) : toPersonaStems(names);
    return [...stems].flatMap((stem) => ringAll(join(dir, stem)));
  } catch {
    return []; // the directory cannot be read
  }
}

/** The waiters of one persona that count, as session ids. */
export function listWaitingSessions(dir: string | null, names: Iterable<PersonaId>): readonly string[] {
  if (dir === null || fs.statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
  return [...toPersonaStems(names)].flatMap((stem) => listNames(join(dir, stem)).filter((name) => !name.includes('.')));
}

/**
 * Lets the waiter of a session leave, because the session is over: it finds that it does not count any more. Removes what killed
 * sessions left, too. Never throws: a waiter that stays costs nothing, and looks again when it is rung.
 */
export function dismissWaiter(dir: string | null, names: Iterable<PersonaId>, session: string): void {
  if (dir === null) return;
  try {
    for (const stem of toPersonaStems(names)) {
      const folder = join(dir, stem);
      const known = listNames(folder);
      const ours = known.filter((name) => name === session || name.startsWith(`${session}.`));
      fs.rmSync(join(folder, session), { force: true });
      for (const name of ours) if (name !== session) ring(join(folder, name));
      for (const name of known) if (!ours.includes(name)) removeLitter(join(folder, name), MOST_MS);
    }
  } catch {
    // See above.
  }
}

function listNames(folder: string): readonly string[] {
  if (fs.statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return fs.readdirSync(folder);
}

function ringAll(folder: string): readonly string[] {
  const sessions = new Set<string>();
  for (const name of listNames(folder)) {
    const end = name.lastIndexOf('.');
    if (end > 0 && ring(join(folder, name))) sessions.add(name.slice(0, end));
  }
  return [...sessions];
}

/** Writes into the pipe if a waiter has it open, and returns whether one has. */
function ring(path: string): boolean {
  let fd: number;
  try {
    fd = fs.openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (getErrno(error) === 'ENXIO') removeLitter(path, LITTER_MS);
    return false;
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFIFO() || stat.uid !== process.getuid?.()) return false;
    fs.writeSync(fd, '\n');
    return true;
  } catch (error) {
    return getErrno(error) === 'EAGAIN'; // full of rings that it has not read yet
  } finally {
    fs.closeSync(fd);
  }
}

function removeLitter(path: string, ms: number): void {
  try {
    if (Date.now() - fs.statSync(path).mtimeMs > ms) fs.unlinkSync(path);
  } catch {
    // Somebody else removed it.
  }
}
