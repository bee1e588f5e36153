import * as fs from 'node:fs';
import { resolve } from 'node:path';
import {
  type Files,
  makeDirectories,
  type OpenFlags,
  renamePatiently,
  renamePatientlyAsync,
  repeatWhileBusy,
  type Stat,
} from './files.ts';

const c = fs.constants;

export const O: OpenFlags = {
  RDONLY: c.O_RDONLY,
  WRONLY: c.O_WRONLY,
  RDWR: c.O_RDWR,
  APPEND: c.O_APPEND,
  CREAT: c.O_CREAT,
  EXCL: c.O_EXCL,
  TRUNC: c.O_TRUNC,
  NOFOLLOW: c.O_NOFOLLOW ?? 0,
  NONBLOCK: c.O_NONBLOCK ?? 0,
  DIRECTORY: c.O_DIRECTORY ?? 0,
};

function toStat(s: fs.Stats): Stat {
  const kind = s.isFile() ? 'file' : s.isDirectory() ? 'directory' : s.isSymbolicLink() ? 'symlink' : 'other';
  const { size, uid, dev, ino, ctimeMs, birthtimeMs } = s;
  return { kind, size, mode: s.mode & 0o7777, uid, dev, ino, ctimeMs, birthtimeMs };
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread for `ms` milliseconds. For short waits in code that must be synchronous. */
export function pause(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}

const RENAME_CALLS = {
  rename: fs.renameSync,
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  pause,
};

/** Renames as `realFiles.rename` does, but without blocking the thread. */
export function renameAsync(from: string, to: string): Promise<void> {
  const calls = {
    ...RENAME_CALLS,
    rename: fs.promises.rename,
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  };
  return renamePatientlyAsync(calls, process.platform === 'win32', from, to);
}

/** Repeats code of a library that writes a file, as `realFiles.rename` repeats a rename. */
export function repeatPatiently(run: () => void): void {
  repeatWhileBusy(RENAME_CALLS, process.platform === 'win32', run);
}

const DIRECTORY_CALLS = {
  mkdir: (path: string, mode: number): void => fs.mkdirSync(path, mode),
  isDirectory(path: string): boolean {
    try {
      return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    } catch {
      return false; // it cannot be examined: creating something in it reports the cause
    }
  },
};

/** The real disk. */
export const realFiles: Files = {
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  read: (fd, into, position) => fs.readSync(fd, into, 0, into.length, position),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  fstat: (fd) => toStat(fs.fstatSync(fd)),
  fchmod: (fd, mode) => fs.fchmodSync(fd, mode),
  ftruncate: (fd, size) => fs.ftruncateSync(fd, size),
  fsync: (fd) => fs.fsyncSync(fd),
  fdatasync: (fd) => fs.fdatasyncSync(fd),
  close: (fd) => fs.closeSync(fd),
  rename: (from, to) => renamePatiently(RENAME_CALLS, process.platform === 'win32', from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  mkdirAll: (path, mode) => makeDirectories(DIRECTORY_CALLS, resolve(path), mode),
  readdir: (path) => fs.readdirSync(path),
  lstat: (path) => {
    const s = fs.lstatSync(path, { throwIfNoEntry: false });
    return s === undefined ? null : toStat(s);
  },
};
