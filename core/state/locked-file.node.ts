import { pause } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { toIoFault } from './io-fault.ts';
import { getPlatformWays, type LockAnswer, type LockWay, tryWays } from './lock.node.ts';
import { type OpenedFile, openForAppend, openToChange } from './safe-open.ts';

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

const ATTEMPTS = 3;
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
