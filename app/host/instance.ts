import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  type Disk,
  ensurePrivateDir,
  getErrno,
  isLocked,
  type Lock,
  lockFile,
  readPrivate,
  writeAtomically,
} from '../../core/state/index.ts';
import type { Machine } from './machine.node.ts';

/** What the running tray process writes about itself into `run/hivebar.json`. */
export interface RunningInstance {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: number;
  /** Null until the status server listens. */
  readonly port: number | null;
  /** The flags of `hivebar run` that it was started with, so that it can be started again in the same way. */
  readonly args: readonly string[];
}

export type Claim =
  | { readonly is: 'ours'; readonly instance: Instance }
  /** Another process runs; `by` is null when its file cannot be read. */
  | { readonly is: 'taken'; readonly by: RunningInstance | null };

/** The claim on a run directory, held by one tray process until it is disposed or the process dies. */
export interface Instance extends Disposable {
  readonly id: string;
  /** The secret for state changes and message text, in `run/token`. It is new with every start. */
  readonly token: string;
  /** Writes `run/hivebar.json` and `run/port`, by which other programs find this process. */
  publish(port: number): void;
}

/** In the directory for run files. Its lock, beside it, says that a tray process runs. */
export const INSTANCE_FILE = 'hivebar.json';
const MOST_BYTES = 64 * 1024;

/**
 * Claims the run directory. Another process proves that it runs by its flock, which dies with it. A file with a pid proves
 * nothing (field report S10) and is taken over.
 */
export function claimInstance(run: string, machine: Machine, args: readonly string[] = []): Claim {
  const { disk, random, log } = machine;
  ensurePrivateDir(disk, run);
  const path = join(run, INSTANCE_FILE);
  let lock: Lock;
  try {
    lock = lockFile(disk, path);
  } catch (error) {
    if (error instanceof Fault && error.code === 'lock-held') return { is: 'taken', by: readRunning(disk, path) };
    throw error;
  }
  const stale = readRunning(disk, path);
  if (stale !== null) log.info(`taking over ${path}: pid ${stale.pid}, which wrote it, is not a running Hivebar`);
  else if (disk.files.lstat(path) !== null) log.info(`taking over ${path}, which Hivebar cannot read`);

  const id = random.hex(16);
  const startedAt = machine.clock.now();
  const names = ['token', INSTANCE_FILE, 'port'];
  /**
   * On a full disk these files may be missing. Clients that use the socket still find this process, and the next `publish` writes
   * the files.
   */
  const write = (name: string, text: string): boolean => {
    try {
      writeAtomically(disk, random, join(run, name), text);
      return true;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'no-space') throw error;
      log.warn(`${join(run, name)} cannot be written: ${error.explain()}`);
      return false;
    }
  };
  const writeInfo = (port: number | null): void =>
    void write(INSTANCE_FILE, `${JSON.stringify({ id, pid: machine.pid, startedAt, port, args })}\n`);
  removeFile(machine, join(run, 'port')); // left by a dead process: whoever finds a port file must find us behind it
  const fresh = random.hex(32);
  // If the new token cannot be written, the old one stays valid, because clients read it from the file.
  const token = write('token', `${fresh}\n`) ? fresh : (readToken(machine, join(run, 'token')) ?? fresh);
  writeInfo(null);
  return {
    is: 'ours',
    instance: {
      id,
      token,
      publish(port) {
        if (readToken(machine, join(run, 'token')) !== token) write('token', `${token}\n`);
        write('port', `${port}\n`);
        writeInfo(port);
      },
      [Symbol.dispose]() {
        for (const name of names) removeFile(machine, join(run, name));
        lock[Symbol.dispose]();
      },
    },
  };
}

function readToken({ disk }: Machine, path: string): string | null {
  const text = Buffer.from(readPrivate(disk, path, MOST_BYTES) ?? [])
    .toString('utf8')
    .trim();
  return /^[0-9a-f]{64}$/.test(text) ? text : null;
}

/** Returns the tray process that runs on this run directory; null when none does, or when its file cannot be read. */
export function findRunning(disk: Disk, run: string): RunningInstance | null {
  return isRunning(disk, run) ? readRunning(disk, join(run, INSTANCE_FILE)) : null;
}

/** Whether a tray process holds the lock of this run directory. Windows does not tell: false. */
export function isRunning(disk: Disk, run: string): boolean {
  return isLocked(disk, join(run, `${INSTANCE_FILE}.lock`));
}

function readRunning(disk: Disk, path: string): RunningInstance | null {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const { id, pid, startedAt, port, args } = value as Record<string, unknown>;
    if (typeof id !== 'string' || typeof pid !== 'number' || typeof startedAt !== 'number') return null;
    const flags = Array.isArray(args) ? args.filter((word) => typeof word === 'string') : [];
    return { id, pid, startedAt, port: typeof port === 'number' ? port : null, args: flags };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null; // empty or garbage: it belongs to nobody
    throw error;
  }
}

function removeFile({ disk, log }: Machine, path: string): void {
  try {
    disk.files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') log.warn(`${path} could not be removed: ${getErrno(error)}`);
  }
}
