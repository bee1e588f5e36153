import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { Fault } from '../model/index.ts';
import { loadKoffi, O, pause } from '../ports/index.ts';
import { type Disk, getErrno, type OpenedFile, openForAppend, openToChange, toIoFault } from './safe-open.ts';

/** A lock that is held until it is disposed or the process ends in any way, so nothing stale is ever left to clean up. */
export interface Lock extends Disposable {
  /** The sidecar that carries the lock. */
  readonly path: string;
}

/** `by` is the descriptor that carries the lock: the given one, or another that the way had to open. */
type LockAnswer = { readonly is: 'got'; readonly by: number } | { readonly is: 'held' };

/** Tries to lock an open file without waiting. @throws Error when the way itself does not work on this machine. */
export type LockWay = (fd: number, path: string) => LockAnswer;

const LOCK_EX = 2;
const LOCK_NB = 4;
const ATTEMPTS = 3;

/**
 * Takes the one-writer lock of `path`, without waiting. It is an exclusive flock(2) on the sidecar `PATH.lock`, because the inode
 * of `path` itself changes with every save (Kijito contract d). Python's `fcntl.flock`, Go's and Rust's are the same lock.
 * The sidecar is private and never deleted.
 *
 * `ways` are tried in this order, and the first that works on this machine decides.
 *
 * @throws Fault `lock-held` when another living process holds it, `unwritable` or `no-space` when the sidecar cannot be used; no
 * descriptor is left open (trap 39).
 */
export function lockFile(disk: Disk, path: string, ways: readonly LockWay[] = getPlatformWays()): Lock {
  const sidecar = `${path}.lock`;
  for (let attempt = 1; ; attempt += 1) {
    const { fd, stat } = openForAppend(disk, sidecar);
    try {
      const answer = tryWays(ways, fd, sidecar);
      if (answer.is === 'held') {
        throw new Fault('lock-held', `${path} is in use by another process, which holds ${sidecar}`, {
          is: 'machine',
          key: `lock:${path}`,
        });
      }
      // Somebody may have replaced the sidecar between open and lock. A lock on a file without a name excludes nobody.
      const named = disk.files.lstat(sidecar);
      if (named?.ino === stat.ino && named.dev === stat.dev)
        return { path: sidecar, [Symbol.dispose]: createClose(disk, fd, answer.by) };
      if (answer.by !== fd) disk.files.close(answer.by);
      if (attempt === ATTEMPTS) throw new Error('its lock file keeps being replaced');
      disk.files.close(fd);
    } catch (error) {
      disk.files.close(fd);
      throw toIoFault(error, sidecar, 'unwritable');
    }
  }
}

/**
 * Returns a function that closes each descriptor only once, however often it is called: the number may belong to another file by
 * then.
 */
function createClose(disk: Disk, ...fds: readonly number[]): () => void {
  const open = new Set(fds);
  return () => {
    for (const fd of open) disk.files.close(fd);
    open.clear();
  };
}

function tryWays(ways: readonly LockWay[], fd: number, path: string): LockAnswer {
  const failures: string[] = [];
  for (const way of ways) {
    try {
      return way(fd, path);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`no way to lock a file works here (${failures.join('; ')})`);
}

function getPlatformWays(): readonly LockWay[] {
  switch (process.platform) {
    case 'linux':
      return [flockByKoffi, flockByUtilLinux];
    case 'darwin':
      return [flockByKoffi, flockByOpenFlag];
    case 'win32':
      return [lockFileExByKoffi];
    default:
      return [flockByKoffi];
  }
}

let flock: ((fd: number, operation: number) => number) | undefined;

/** Calls flock(2) in the C library that this process has already loaded. */
export function flockByKoffi(fd: number): LockAnswer {
  const { load, errno, os } = loadKoffi();
  flock ??= load(null).func('int flock(int fd, int operation)') as unknown as (fd: number, op: number) => number;
  for (;;) {
    if (flock(fd, LOCK_EX | LOCK_NB) === 0) return { is: 'got', by: fd };
    const code = errno();
    if (code === os.errno.EWOULDBLOCK || code === os.errno.EAGAIN) return { is: 'held' };
    if (code !== os.errno.EINTR) throw new Error(`flock failed with errno ${code}`);
  }
}

/**
 * Lets flock(1) of util-linux lock our open file. The lock belongs to the open file description, so it stays with this process
 * after the child has ended.
 */
export function flockByUtilLinux(fd: number): LockAnswer {
  const { status, error, stderr } = spawnSync('flock', ['-n', '-x', '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
  if (error) throw error;
  if (status === 0) return { is: 'got', by: fd };
  if (status === 1) return { is: 'held' };
  throw new Error(`flock(1) ended with ${status}: ${String(stderr).trim()}`);
}

const O_EXLOCK = 0x20;

/** Takes the flock while opening the file, which macOS can do; not verified on a machine. */
function flockByOpenFlag(fd: number, path: string): LockAnswer {
  try {
    const locked = fs.openSync(
      path,
      fs.constants.O_RDWR | fs.constants.O_NONBLOCK | fs.constants.O_NOFOLLOW | O_EXLOCK,
    );
    if (fs.fstatSync(locked).ino === fs.fstatSync(fd).ino) return { is: 'got', by: locked };
    fs.closeSync(locked);
    throw new Error('its lock file was replaced while it was locked');
  } catch (error) {
    if (getErrno(error) === 'EAGAIN' || getErrno(error) === 'EWOULDBLOCK') return { is: 'held' };
    throw error;
  }
}

const LOCKFILE_FAIL_IMMEDIATELY = 1;
const LOCKFILE_EXCLUSIVE_LOCK = 2;
const ERROR_LOCK_VIOLATION = 33;

/** Locks the file on Windows; not verified on a machine. The handle comes from libuv, whose symbols node.exe exports. */
function lockFileExByKoffi(fd: number): LockAnswer {
  const { load } = loadKoffi();
  const getOsHandle = load(null).func('void *uv_get_osfhandle(int fd)');
  const kernel = load('kernel32.dll');
  const lockFileEx = kernel.func(
    'bool __stdcall LockFileEx(void *file, uint32_t flags, uint32_t reserved, uint32_t low, uint32_t high, void *overlapped)',
  );
  const lastError = kernel.func('uint32_t __stdcall GetLastError()');
  const flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  if (lockFileEx(getOsHandle(fd), flags, 0, 1, 0, Buffer.alloc(32))) return { is: 'got', by: fd }; // 32 bytes: an OVERLAPPED at offset 0
  const code = Number(lastError());
  if (code === ERROR_LOCK_VIOLATION) return { is: 'held' };
  throw new Error(`LockFileEx failed with error ${code}`);
}

/**
 * Takes the flock of a lock file that another program created, without creating or changing anything. Returns null when its owner
 * holds the lock now; otherwise the caller disposes the result. A lock file that is gone, is no plain file or is on a platform
 * without flock counts as free.
 *
 * @param sidecar the lock file itself, `STATEFILE.lock`
 * @throws Fault `unreadable`
 */
export function takeOthersLock({ files }: Disk, sidecar: string): Disposable | null {
  const nobody: Disposable = { [Symbol.dispose]: () => {} };
  if (process.platform === 'win32' || files.lstat(sidecar)?.kind !== 'file') return nobody;
  let fd: number;
  try {
    fd = files.open(sidecar, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return nobody;
    throw toIoFault(error, sidecar, 'unreadable');
  }
  try {
    if (tryFlock(fd)) return { [Symbol.dispose]: () => files.close(fd) };
    files.close(fd);
    return null;
  } catch (error) {
    files.close(fd);
    throw toIoFault(error, sidecar, 'unreadable');
  }
}

/** Whether the owner of this lock file holds it now. @throws Fault `unreadable` */
export function isLocked(disk: Disk, sidecar: string): boolean {
  using lock = takeOthersLock(disk, sidecar);
  return lock === null;
}

function tryFlock(fd: number): boolean {
  try {
    return flockByKoffi(fd).is === 'got';
  } catch {
    return flockByUtilLinux(fd).is === 'got'; // koffi does not load here; this throws when flock(1) does not work either
  }
}

/** A file that carries its own lock. Disposing it releases the lock and closes the descriptor. */
export interface LockedFile extends Disposable {
  /** Reads anywhere, and writes at the end. */
  readonly fd: number;
  readonly created: boolean;
}

export type LockResult =
  | { readonly is: 'got'; readonly file: LockedFile }
  /** Another process held the lock for the whole time. */
  | { readonly is: 'held' }
  | { readonly is: 'missing' };
/** A caller that does not wait is in no queue of the kernel, so it must ask often to get the lock between busy writers. */
const ASK_EVERY_MS = 1;

/**
 * Opens a private file and takes the exclusive flock(2) on the file itself, the lock that its Go, Rust and Python writers take
 * (inbox and gates, seed "Cross-language flock"). Blocks this thread for `waitMs` milliseconds at most.
 *
 * A file that was unlinked or replaced between open and lock is opened again: nobody would find what is written to a file without
 * a name.
 *
 * @param how `create` makes the file (0600) and its directories (0700); `existing` creates nothing
 * @throws Fault `unwritable` or `no-space`; no descriptor is left open
 */
export function openLocked(
  disk: Disk,
  path: string,
  how: 'create' | 'existing',
  waitMs: number,
  ways: readonly LockWay[] = getPlatformWays(),
): LockResult {
  const until = performance.now() + waitMs;
  for (let attempt = 1; ; attempt += 1) {
    const opened = how === 'create' ? openForAppend(disk, path) : openToChange(disk, path);
    if (opened === null) return { is: 'missing' };
    const { fd, created } = opened;
    const open = new Set([fd]);
    const close = (): void => {
      for (const descriptor of [...open]) {
        open.delete(descriptor); // first, because the descriptor is closed even when close fails
        disk.files.close(descriptor);
      }
    };
    try {
      const answer = waitForLock(ways, fd, path, until);
      if (answer.is === 'held') {
        close();
        return { is: 'held' };
      }
      open.add(answer.by);
      if (hasTheName(disk, path, opened)) return { is: 'got', file: { fd, created, [Symbol.dispose]: close } };
      if (attempt === ATTEMPTS) throw new Error('it keeps being replaced');
      close();
    } catch (error) {
      close();
      throw toIoFault(error, path, 'unwritable');
    }
  }
}

function hasTheName({ files }: Disk, path: string, { stat }: OpenedFile): boolean {
  const named = files.lstat(path);
  return named?.ino === stat.ino && named.dev === stat.dev;
}

function waitForLock(ways: readonly LockWay[], fd: number, path: string, until: number): LockAnswer {
  for (;;) {
    const answer = tryWays(ways, fd, path);
    if (answer.is === 'got' || performance.now() >= until) return answer;
    pause(ASK_EVERY_MS);
  }
}
