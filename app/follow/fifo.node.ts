import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { Fault } from '../../core/model/index.ts';
import { type Clock, type ProcessEnd, realSpawn } from '../../core/ports/index.ts';
import { programOnPath } from '../programs.node.ts';

/** A named pipe of ours that hands over a line only when a reader is present. */
export interface Fifo {
  /**
   * Waits for a reader, writes the line, and waits until it was read, as far as the system tells. When a reader leaves before
   * that, the next reader gets the whole line.
   * @throws Fault `unwritable` when something else has the name
   */
  deliver(line: string, stop: AbortSignal): Promise<'handed' | 'stopped'>;
}

const PRIVATE = 0o600;
const READER_CHECK_MS = 100;
const ROOM_CHECK_MS = 10;
const { O_RDONLY, O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;

/**
 * Opens a pipe, and creates it (mode 0600) when the name is free (Kijito contract j, trap 68). Opening never blocks, and
 * nothing but a pipe is ever created.
 * @throws Fault `unwritable` naming the path and what is there
 */
export function openFifo(path: string, clock: Clock, env: Readonly<Record<string, string | undefined>>): Fifo {
  const ensure = (): void => {
    if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) makeFifo(path, env);
    const fd = openPath(path, O_RDONLY);
    try {
      checkFifo(path, fd);
    } finally {
      fs.closeSync(fd);
    }
  };
  ensure();

  /** Null: there is no reader. */
  const openForReader = (): number | null => {
    for (;;) {
      try {
        const fd = fs.openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
        try {
          checkFifo(path, fd);
          return fd;
        } catch (error) {
          fs.closeSync(fd);
          throw error;
        }
      } catch (error) {
        const code = getErrorCode(error);
        if (code === 'ENXIO') return null;
        if (code !== 'ENOENT') throw createFifoFault(path, error);
        ensure(); // somebody deleted the pipe
      }
    }
  };

  async function put(fd: number, line: string, stop: AbortSignal): Promise<'read' | 'left' | 'stopped'> {
    let rest: Uint8Array = Buffer.from(line, 'utf8');
    while (rest.length > 0) {
      try {
        rest = rest.subarray(fs.writeSync(fd, rest));
      } catch (error) {
        if (getErrorCode(error) === 'EPIPE') return 'left';
        if (getErrorCode(error) !== 'EAGAIN') throw createFifoFault(path, error);
        await clock.sleep(ROOM_CHECK_MS, stop);
        if (stop.aborted) return 'stopped';
      }
    }
    while ((countUnreadBytes(fd) ?? 0) > 0) {
      // Count the unread bytes again: the reader may have read on before it left, and it cannot read any more now.
      if (isReaderGone(fd)) return (countUnreadBytes(fd) ?? 0) > 0 ? 'left' : 'read';
      if (stop.aborted) return 'stopped';
      await clock.sleep(ROOM_CHECK_MS, stop);
    }
    return 'read';
  }

  return {
    async deliver(line, stop) {
      while (!stop.aborted) {
        const fd = openForReader();
        if (fd !== null) {
          try {
            const outcome = await put(fd, line, stop);
            if (outcome !== 'left') return outcome === 'read' ? 'handed' : 'stopped';
          } finally {
            fs.closeSync(fd);
          }
        }
        await clock.sleep(READER_CHECK_MS, stop);
      }
      return 'stopped';
    },
  };
}

function makeFifo(path: string, env: Readonly<Record<string, string | undefined>>): void {
  const program = programOnPath('mkfifo', env, process.platform);
  if (program === null) throw createFifoFault(path, new Error('there is no program mkfifo on PATH'));
  const { status, stderr, error } = spawnSync(program, ['-m', '600', '--', path], { encoding: 'utf8' });
  if (status === 0) return;
  // Another process may have created it in between; the next step checks what it is.
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined)
    throw createFifoFault(path, error ?? new Error(`could not be made: ${stderr.trim()}`));
}

function openPath(path: string, how: number): number {
  try {
    return fs.openSync(path, how | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    throw createFifoFault(path, error);
  }
}

function checkFifo(path: string, fd: number): void {
  const stat = fs.fstatSync(fd);
  const uid = process.getuid?.();
  if (!stat.isFIFO()) throw createFifoFault(path, new Error('exists already and is not a pipe'));
  if (uid !== undefined && stat.uid !== uid)
    throw createFifoFault(path, new Error(`belongs to user ${stat.uid}, not to the user of Hivebar`));
  if ((stat.mode & 0o777) !== PRIVATE) fs.fchmodSync(fd, PRIVATE);
}

function createFifoFault(path: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const why = error instanceof Error ? error.message : String(error);
  const message = `${path}: ${getErrorCode(error) === 'ELOOP' ? 'is a symlink' : why}; move it away or name another with --fifo`;
  return new Fault('unwritable', message, { is: 'machine', key: path }, { cause: error });
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** System calls that Node does not offer. */
interface KernelCalls {
  poll(fds: Int16Array, count: number, ms: number): number;
  ioctl(fd: number, request: number, type: 'void *', into: Int32Array): number;
}

const POLLERR_OR_HUP = 0x08 | 0x10;
const FIONREAD = process.platform === 'darwin' ? 0x4004667f : 0x541b;

let calls: KernelCalls | null | undefined;

/** Null where the calls cannot be made: on Windows, or where the library does not exist for this platform. */
function loadKernel(): KernelCalls | null {
  if (calls !== undefined) return calls;
  calls = null;
  if (process.platform === 'win32') return calls;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const lib = koffi.load(null);
    calls = {
      poll: lib.func('int poll(void *fds, unsigned long count, int ms)') as unknown as KernelCalls['poll'],
      ioctl: lib.func('int ioctl(int fd, unsigned long request, ...)') as unknown as KernelCalls['ioctl'],
    };
  } catch {
    // The result is null, and callers go on without these calls.
  }
  return calls;
}

/** Whether this pipe or socket has no reader any more; false where the system does not tell. */
export function isReaderGone(fd: number): boolean {
  const pollfd = new Int16Array(4); // int fd, short events, short revents
  new Int32Array(pollfd.buffer)[0] = fd;
  if ((loadKernel()?.poll(pollfd, 1, 0) ?? 0) <= 0) return false;
  return ((pollfd[3] ?? 0) & POLLERR_OR_HUP) !== 0;
}

/** Bytes in a pipe that nobody has read yet; null where the system does not tell. */
function countUnreadBytes(fd: number): number | null {
  const into = new Int32Array(1);
  if (loadKernel()?.ioctl(fd, FIONREAD, 'void *', into) !== 0) return null;
  return into[0] ?? null;
}

interface ProgramRun {
  /** The program and its arguments. No shell is involved. */
  readonly argv: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Text for its stdin. The program need not read it. */
  readonly input: string;
  readonly killAfterMs: number;
}

/**
 * Runs a program to its end. It runs in its own process group, which is killed as a whole when the time is up or `stop` aborts.
 * Its stdout is ours. A name without a slash is searched for on PATH, never in the current folder. Never rejects.
 */
export async function runProgram(
  { argv, env, input, killAfterMs }: ProgramRun,
  stop: AbortSignal,
): Promise<ProcessEnd> {
  const [file = '', ...args] = argv;
  return await realSpawn.run({ file, args, env, input, stdout: 'inherit', timeoutMs: killAfterMs }, stop);
}
