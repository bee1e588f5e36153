/** What a path or descriptor is, as far as Hivebar asks. */
export interface Stat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  /** Permission bits only, e.g. 0o600. */
  readonly mode: number;
  readonly uid: number;
  readonly dev: number;
  readonly ino: number;
  /** When it, its content or its name last changed, as the disk has it. */
  readonly ctimeMs: number;
}

/**
 * The file system calls Hivebar makes, one to one and synchronous, so that a test can tear or fail each of them.
 * Each throws what node:fs throws (`code` = ENOSPC, EACCES, ELOOP ...).
 */
export interface Files {
  /** `flags` from `O`; always pass O.NOFOLLOW | O.NONBLOCK for files others could have placed. */
  open(path: string, flags: number, mode: number): number;
  read(fd: number, into: Uint8Array, position: number): number;
  /** One write call; returns the bytes written, which may be fewer. */
  write(fd: number, bytes: Uint8Array): number;
  fstat(fd: number): Stat;
  fchmod(fd: number, mode: number): void;
  ftruncate(fd: number, size: number): void;
  fsync(fd: number): void;
  fdatasync(fd: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  /** A second name for a file; EEXIST when `to` is there, whatever it is. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  /** `mode` for every directory it creates; existing ones are left as they are. */
  mkdirAll(path: string, mode: number): void;
  readdir(path: string): string[];
  /** Does not follow a symlink; null when nothing is there. */
  lstat(path: string): Stat | null;
}

/** The open flags of the platform; a flag the platform lacks is 0. */
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
