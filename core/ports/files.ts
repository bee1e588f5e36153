import { dirname } from 'node:path';

/** What Hivebar needs to know about a path or descriptor. */
export interface Stat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  /** Permission bits only, e.g. 0o600. */
  readonly mode: number;
  readonly uid: number;
  readonly dev: number;
  readonly ino: number;
  /** When the file, its content or its name last changed, according to the disk. */
  readonly ctimeMs: number;
  /** When it was made, according to the disk; absent or 0 where the disk does not say. */
  readonly birthtimeMs?: number;
}

/**
 * The file system calls of Hivebar, one to one and synchronous, so that a test can interrupt or fail each of them. Each
 * throws what node:fs throws (`code` = ENOSPC, EACCES, ELOOP ...).
 */
export interface Files {
  /** `flags` come from `O`. Always pass O.NOFOLLOW | O.NONBLOCK for files that others could have placed. */
  open(path: string, flags: number, mode: number): number;
  read(fd: number, into: Uint8Array, position: number): number;
  /** Makes one write call and returns the bytes written, which may be fewer. */
  write(fd: number, bytes: Uint8Array): number;
  fstat(fd: number): Stat;
  fchmod(fd: number, mode: number): void;
  ftruncate(fd: number, size: number): void;
  fsync(fd: number): void;
  fdatasync(fd: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  /** Adds a second name for a file. Throws EEXIST when `to` exists, whatever it is. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  /** `mode` applies to every directory it creates; existing ones stay unchanged. */
  mkdirAll(path: string, mode: number): void;
  readdir(path: string): string[];
  /** Does not follow a symlink; null when the path does not exist. */
  lstat(path: string): Stat | null;
}

/**
 * Writes all bytes, with as many calls as it takes.
 * @throws what `write` throws, or an error when a call writes nothing; some bytes may be written then.
 */
export function writeAll(files: Pick<Files, 'write'>, fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const wrote = files.write(fd, done === 0 ? bytes : bytes.subarray(done));
    if (wrote === 0) throw new Error('the disk accepts no more bytes');
    done += wrote;
  }
}

/** The open flags of the platform. A flag that the platform lacks is 0. */
export interface OpenFlags {
  readonly RDONLY: number;
  readonly WRONLY: number;
  readonly RDWR: number;
  readonly APPEND: number;
  readonly CREAT: number;
  readonly EXCL: number;
  readonly TRUNC: number;
  readonly NOFOLLOW: number;
  readonly NONBLOCK: number;
  readonly DIRECTORY: number;
}

/** The calls that create directories. Each throws what node:fs throws. */
interface DirectoryCalls {
  mkdir(path: string, mode: number): void;
  /** Follows symlinks; false for a path that is missing or cannot be examined. */
  isDirectory(path: string): boolean;
}

/**
 * Creates a directory and its missing parents. Node's recursive call is not used: it loops for ever where the system
 * reports "no such file" for a directory whose parent exists, as below `/proc` (oven-sh/bun#40600 is the same bug).
 *
 * @param mode for every directory it creates; existing ones stay unchanged
 * @throws the error of the first directory that cannot be created
 */
export function makeDirectories(calls: DirectoryCalls, path: string, mode: number): void {
  if (calls.isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectories(calls, parent, mode);
  try {
    calls.mkdir(path, mode);
  } catch (error) {
    if (!calls.isDirectory(path)) throw error; // otherwise another process was faster
  }
}

/** The calls that a wait needs. */
interface WaitCalls {
  /** Milliseconds that never go backwards. */
  monotonic(): number;
  /** Blocks this thread. */
  pause(ms: number): void;
}

/** The calls that a patient rename needs. */
export interface RenameCalls extends WaitCalls {
  rename(from: string, to: string): void;
}

/** How long a rename is repeated, in milliseconds. */
export const RENAME_WITHIN_MS = 2000;
/** The first pause is short, because a reader is done quickly. A virus scanner takes longer. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const BUSY: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);

/**
 * Renames a file, and on Windows repeats that for two seconds. Windows refuses to rename onto a file that somebody has
 * open, and readers of Hivebar's files are done quickly. On other systems these codes are real failures, and the first
 * is thrown.
 *
 * @throws what the last rename threw
 */
export function renamePatiently(calls: RenameCalls, isWindows: boolean, from: string, to: string): void {
  repeatWhileBusy(calls, isWindows, () => calls.rename(from, to));
}

/**
 * Repeats a call that ends with a rename in the same way.
 * @throws what its last run threw
 */
export function repeatWhileBusy(calls: WaitCalls, isWindows: boolean, run: () => void): void {
  const until = calls.monotonic() + RENAME_WITHIN_MS;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    try {
      run();
      return;
    } catch (error) {
      const left = until - calls.monotonic();
      if (!isWindows || !isBusy(error) || left <= 0) throw error;
      calls.pause(Math.min(ms, left));
    }
  }
}

/** Renames patiently without blocking the thread. */
export async function renamePatientlyAsync(
  calls: {
    rename(from: string, to: string): Promise<void>;
    monotonic(): number;
    sleep(ms: number): Promise<void>;
  },
  isWindows: boolean,
  from: string,
  to: string,
): Promise<void> {
  const until = calls.monotonic() + RENAME_WITHIN_MS;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    try {
      await calls.rename(from, to);
      return;
    } catch (error) {
      const left = until - calls.monotonic();
      if (!isWindows || !isBusy(error) || left <= 0) throw error;
      await calls.sleep(Math.min(ms, left));
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BUSY.has(error.code);
}
