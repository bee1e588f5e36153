import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  ensurePrivateDir,
  getErrno,
  type Lock,
  lockFile,
  readPrivate,
  writeAtomically,
} from '../../core/state/index.ts';
import type { Machine } from './machine.ts';

/** What the running tray process says of itself in `run/hivebar.json`. */
export interface RunningInstance {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: number;
  /** Null until the status server listens. */
  readonly port: number | null;
}

export type Claim =
  | { readonly is: 'ours'; readonly instance: Instance }
  /** Another one runs; null when its file can't be read. */
  | { readonly is: 'taken'; readonly by: RunningInstance | null };

/** The one tray process of a run directory, until it is disposed or dies. */
export interface Instance extends Disposable {
  readonly id: string;
  /** The secret for state changes and message text, new with every start; `run/token`. */
  readonly token: string;
  /** Writes `run/hivebar.json` and `run/port`: from now on others find us. */
  publish(port: number): void;
}

const FILE = 'hivebar.json';
const MOST_BYTES = 64 * 1024;

/**
 * Claims the run directory. The proof that another one runs is its flock, which dies with it; a file with somebody's pid
 * proves nothing (field report S10) and is taken over.
 */
export function claimInstance(run: string, machine: Machine): Claim {
  const { disk, random, log } = machine;
  ensurePrivateDir(disk, run);
  const path = join(run, FILE);
  let lock: Lock;
  try {
    lock = lockFile(disk, path);
  } catch (error) {
    if (error instanceof Fault && error.code === 'lock-held') return { is: 'taken', by: readRunning(machine, path) };
    throw error;
  }
  const stale = readRunning(machine, path);
  if (stale !== null) log.info(`taking over ${path}: pid ${stale.pid}, which wrote it, is no running hivebar`);
  else if (disk.files.lstat(path) !== null) log.info(`taking over ${path}, which is not readable as ours`);

  const id = random.hex(16);
  const startedAt = machine.clock.now();
  const names = ['token', FILE, 'port'];
  /** On a full disk it goes without: whoever asks by the socket finds us, and the next `publish` writes what is missing. */
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
    void write(FILE, `${JSON.stringify({ id, pid: machine.pid, startedAt, port })}\n`);
  removeFile(machine, join(run, 'port')); // of a dead one: who finds a port file finds us behind it
  const fresh = random.hex(32);
  // One that is there is what clients read: better it is good than that none is.
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

function readRunning({ disk }: Machine, path: string): RunningInstance | null {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const { id, pid, startedAt, port } = value as Record<string, unknown>;
    if (typeof id !== 'string' || typeof pid !== 'number' || typeof startedAt !== 'number') return null;
    return { id, pid, startedAt, port: typeof port === 'number' ? port : null };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null; // empty or garbage: nobody's
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
