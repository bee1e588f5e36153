import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 10;
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'ENXIO', 'ECONNRESET', 'EIO', 'EBADF']);

/** Writes to stdout and reports what became of it. A reader that does not read blocks nothing. */
interface LineOutput {
  /**
   * Writes the text. `stopped` means that `stop` was aborted before all of it was taken.
   * @throws the file system's error when stdout is a file and the disk is full
   */
  write(text: string, stop: Pick<AbortSignal, 'aborted'>): Promise<'written' | 'reader gone' | 'stopped'>;
}

export function createLineOutput(): LineOutput {
  const fd = openUnblocked(1);
  return {
    async write(text, stop) {
      let rest: Uint8Array = Buffer.from(text, 'utf8');
      while (rest.length > 0) {
        try {
          rest = rest.subarray(writeSync(fd, rest));
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? String(error.code) : '';
          if (READER_GONE.has(code)) return 'reader gone';
          if (code !== 'EAGAIN') throw error;
          if (stop.aborted) return 'stopped';
          await sleep(WAIT_MS);
        }
      }
      return 'written';
    },
  };
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
/** References for the life of this process, because a wrapper that is garbage-collected closes its descriptor. */
const wrapped: unknown[] = [];

/**
 * Returns a descriptor of the same file, pipe or socket. A read or write that would block answers EAGAIN at once; files never
 * block. It avoids the streams of `process`, which take a sixth of the start of a hook. Not for terminals.
 */
export function openUnblocked(fd: 0 | 1): number {
  const stat = fstatSync(fd);
  if (stat.isFIFO() && process.platform === 'linux') {
    try {
      // This opens a separate open file description, so the pipe does not change for other processes.
      return openSync(`/proc/self/fd/${fd}`, (fd === 0 ? O_RDONLY : O_WRONLY) | O_NONBLOCK);
    } catch {
      // There is no /proc, the pipe is another user's, or its other end is closed. The general way below applies.
    }
  }
  if (stat.isFIFO() || stat.isSocket()) wrapped.push(openPipe(fd));
  return fd;
}

/** The internals below the sockets of `net`. */
interface PipeWrap {
  readonly Pipe: new (type: number) => { open(fd: number): number };
  readonly constants: { readonly SOCKET: number };
}

/** Wrapping the descriptor makes it non-blocking; nothing is read. `node:net` takes 4 ms to load, so it is the last resort. */
function openPipe(fd: number): unknown {
  try {
    const { binding } = process as unknown as { binding(name: 'pipe_wrap'): PipeWrap };
    const { Pipe, constants } = binding('pipe_wrap');
    const pipe = new Pipe(constants.SOCKET);
    if (pipe.open(fd) === 0) return pipe;
  } catch {
    // This Node has no such binding.
  }
  return new Socket({ fd });
}
