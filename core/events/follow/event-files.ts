import { basename, dirname, join } from 'node:path';
import { Fault } from '../../model/index.ts';
import { type Files, O } from '../../ports/index.ts';

/** Identifies a file whatever its name is. Valid while the file is open: later the system may reuse its number. */
export interface FileId {
  readonly dev: number;
  readonly ino: number;
}

/** One open file of an event file and its archives. */
export interface OpenEventFile {
  readonly fd: number;
  readonly id: FileId;
  /** `live` is the file that grows; `archive` is one that does not. */
  readonly is: 'live' | 'archive';
}

const ATTEMPTS = 100;

export const isSameFile = (a: FileId, b: FileId): boolean => a.dev === b.dev && a.ino === b.ino;

/**
 * Opens an event file and its archives, oldest first: `.5` ... `.1`, then the live file, as far as they exist. The names are read
 * again once all files are open, so that a rotation in between neither leaves out a file nor opens one twice.
 * The caller closes the files.
 * @throws what the file system throws, and Fault `unreadable` when a name is not a regular file
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

/** Which file has the name now; null for none. */
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
