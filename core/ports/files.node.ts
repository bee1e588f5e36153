import * as fs from 'node:fs';
import type { Files, OpenFlags, Stat } from './files.ts';

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

function statOf(s: fs.Stats): Stat {
  const kind = s.isFile() ? 'file' : s.isDirectory() ? 'directory' : s.isSymbolicLink() ? 'symlink' : 'other';
  return { kind, size: s.size, mode: s.mode & 0o7777, uid: s.uid, dev: s.dev, ino: s.ino, ctimeMs: s.ctimeMs };
}

export const realFiles: Files = {
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  read: (fd, into, position) => fs.readSync(fd, into, 0, into.length, position),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  fstat: (fd) => statOf(fs.fstatSync(fd)),
  fchmod: (fd, mode) => fs.fchmodSync(fd, mode),
  ftruncate: (fd, size) => fs.ftruncateSync(fd, size),
  fsync: (fd) => fs.fsyncSync(fd),
  fdatasync: (fd) => fs.fdatasyncSync(fd),
  close: (fd) => fs.closeSync(fd),
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  mkdirAll: (path, mode) => {
    fs.mkdirSync(path, { recursive: true, mode });
  },
  readdir: (path) => fs.readdirSync(path),
  lstat: (path) => {
    const s = fs.lstatSync(path, { throwIfNoEntry: false });
    return s === undefined ? null : statOf(s);
  },
};
