import { createRequire } from 'node:module';

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
export function countUnreadBytes(fd: number): number | null {
  const into = new Int32Array(1);
  if (loadKernel()?.ioctl(fd, FIONREAD, 'void *', into) !== 0) return null;
  return into[0] ?? null;
}
