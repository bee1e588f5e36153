import { basename, dirname, join } from 'node:path';
import { Fault } from '../../model/index.ts';
import { type Files, O } from '../../ports/index.ts';

/** Which file it is, whatever its name is now. True for as long as it is open: later its number may be given away. */
export interface FileId {
  readonly dev: number;
  readonly ino: number;
}

/** One open file of a rotated sequence. */
export interface OpenEventFile {
  readonly fd: number;
  readonly id: FileId;
  /** The live file, which grows, or an archive, which does not. */
  readonly is: 'live' | 'archive';
}

const ATTEMPTS = 100;

export const isSameFile = (a: FileId, b: FileId): boolean => a.dev === b.dev && a.ino === b.ino;

/**
 * Opens an event file and its archives, oldest first: `.5` ... `.1`, then the live one, as far as they are there. The names
 * are looked at again once all are open, so that a rotation in between leaves none out and opens none twice. The caller
 * closes them.
 * @throws what the file system says, and Fault `unreadable` when a name leads to anything but a file
 */
export function openEventFiles(files: Files, path: string): readonly OpenEventFile[] {
  for (let attempt = 1; ; attempt += 1) {
    const opened: OpenEventFile[] = [];
    let isStable = false;
    try {
      const named = findFileNames(files, path);
      for (const name of named) {
        const file = openIfPresent(files, name, name === path ? 'live' : 'archive');
        if (file !== null) opened.push(file);
      }
      isStable = areNamesUnchanged(files, path, named, opened);
      if (isStable) return opened;
      if (attempt === ATTEMPTS)
        throw createUnreadableFault(path, 'and its archives change names faster than they can be read');
    } finally {
      if (!isStable) for (const { fd } of opened) files.close(fd);
    }
  }
}

/** Which file has the name now; null: none. */
export function findFileId(files: Files, path: string): FileId | null {
  return files.lstat(path);
}

function findFileNames(files: Files, path: string): readonly string[] {
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

function openIfPresent(files: Files, path: string, is: OpenEventFile['is']): OpenEventFile | null {
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
  throw createUnreadableFault(path, 'is not a regular file');
}

function areNamesUnchanged(
  files: Files,
  path: string,
  named: readonly string[],
  opened: readonly OpenEventFile[],
): boolean {
  const now = findFileNames(files, path);
  if (now.length !== named.length || opened.length !== named.length) return false;
  return now.every((name, index) => {
    const file = opened[index];
    const currentId = findFileId(files, name);
    return name === named[index] && file !== undefined && currentId !== null && isSameFile(file.id, currentId);
  });
}

function createUnreadableFault(path: string, problem: string): Fault {
  return new Fault('unreadable', `${path} ${problem}`, { is: 'machine', key: path });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
