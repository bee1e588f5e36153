import { basename, dirname, join } from 'node:path';
import { Fault } from '../../model/index.ts';
import { type Files, O } from '../../ports/index.ts';

/** Which file it is, whatever its name is now. True for as long as it is open: later its number may be given away. */
export interface FileId {
  readonly dev: number;
  readonly ino: number;
}

/** One open file of a rotated sequence. */
export interface EventFile {
  readonly fd: number;
  readonly id: FileId;
  /** The live file, which grows, or an archive, which does not. */
  readonly is: 'live' | 'archive';
}

const ATTEMPTS = 100;

export const sameFile = (a: FileId, b: FileId): boolean => a.dev === b.dev && a.ino === b.ino;

/**
 * Opens an event file and its archives, oldest first: `.5` ... `.1`, then the live one, as far as they are there. The names
 * are looked at again once all are open, so that a rotation in between leaves none out and opens none twice. The caller
 * closes them.
 * @throws what the file system says, and Fault `unreadable` when a name leads to anything but a file
 */
export function openEventFiles(files: Files, path: string): readonly EventFile[] {
  for (let attempt = 1; ; attempt += 1) {
    const opened: EventFile[] = [];
    let keep = false;
    try {
      const named = namesOf(files, path);
      for (const name of named) {
        const one = openOne(files, name, name === path ? 'live' : 'archive');
        if (one !== null) opened.push(one);
      }
      keep = stillNamed(files, path, named, opened);
      if (keep) return opened;
      if (attempt === ATTEMPTS) throw unreadable(path, 'and its archives change names faster than they can be read');
    } finally {
      if (!keep) for (const { fd } of opened) files.close(fd);
    }
  }
}

/** Which file has the name now; null: none. */
export function fileAt(files: Files, path: string): FileId | null {
  return files.lstat(path);
}

function namesOf(files: Files, path: string): readonly string[] {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  let names: readonly string[];
  try {
    names = files.readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const archives = names
    .filter((name) => name.startsWith(prefix) && /^[1-9][0-9]*$/.test(name.slice(prefix.length)))
    .map((name) => ({ name, age: Number(name.slice(prefix.length)) }))
    .toSorted((a, b) => b.age - a.age)
    .map(({ name }) => join(directory, name));
  return names.includes(basename(path)) ? [...archives, path] : archives;
}

function openOne(files: Files, path: string, is: EventFile['is']): EventFile | null {
  let fd: number;
  try {
    fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  const { kind, dev, ino } = files.fstat(fd);
  if (kind === 'file') return { fd, id: { dev, ino }, is };
  files.close(fd);
  throw unreadable(path, 'is not a regular file');
}

function stillNamed(files: Files, path: string, named: readonly string[], opened: readonly EventFile[]): boolean {
  const now = namesOf(files, path);
  if (now.length !== named.length || opened.length !== named.length) return false;
  return now.every((name, index) => {
    const one = opened[index];
    const there = fileAt(files, name);
    return name === named[index] && one !== undefined && there !== null && sameFile(one.id, there);
  });
}

function unreadable(path: string, what: string): Fault {
  return new Fault('unreadable', `${path} ${what}`, { is: 'machine', key: path });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
