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
