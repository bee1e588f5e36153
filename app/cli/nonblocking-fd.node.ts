import { constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
/** As long as this process lives: whoever lets go of one closes its descriptor. */
const wrapped: unknown[] = [];

/**
 * A descriptor of the same file, pipe or socket, on which a read or a write that would wait answers EAGAIN at once; files
 * never wait. It does without the streams of `process`, which are a sixth of the start of a hook. Not for terminals.
 */
export function openUnblocked(fd: 0 | 1): number {
  const stat = fstatSync(fd);
  if (stat.isFIFO() && process.platform === 'linux') {
    try {
      // An open description of our own: how others see the pipe is not changed.
      return openSync(`/proc/self/fd/${fd}`, (fd === 0 ? O_RDONLY : O_WRONLY) | O_NONBLOCK);
    } catch {
      // No /proc, another user's pipe, or nobody at its other end: as every other.
    }
  }
  if (stat.isFIFO() || stat.isSocket()) wrapped.push(openPipe(fd));
  return fd;
}

/** What `net` has below its sockets. */
interface PipeWrap {
  readonly Pipe: new (type: number) => { open(fd: number): number };
  readonly constants: { readonly SOCKET: number };
}

/** To be wrapped is what makes it answer so; nothing is read. `node:net` and what it loads take 4 ms, so it is asked for last. */
function openPipe(fd: number): unknown {
  try {
    const { binding } = process as unknown as { binding(name: 'pipe_wrap'): PipeWrap };
    const { Pipe, constants } = binding('pipe_wrap');
    const pipe = new Pipe(constants.SOCKET);
    if (pipe.open(fd) === 0) return pipe;
  } catch {
    // A Node without it.
  }
  return new Socket({ fd });
}
