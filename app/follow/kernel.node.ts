import { createRequire } from 'node:module';

/** What Node does not ask the system, and how it is asked. */
interface Calls {
  poll(fds: Uint8Array, count: number, ms: number): number;
  ioctl(fd: number, request: number, type: 'void *', into: Uint8Array): number;
}

const POLLERR_OR_HUP = 0x08 | 0x10;
const FIONREAD = process.platform === 'darwin' ? 0x4004667f : 0x541b;

let calls: Calls | null | undefined;

/** Null where it can not be asked: no such library for this platform, or Windows. */
function kernel(): Calls | null {
  if (calls !== undefined) return calls;
  calls = null;
  if (process.platform === 'win32') return calls;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const lib = koffi.load(null);
    calls = {
      poll: lib.func('int poll(void *fds, unsigned long count, int ms)') as unknown as Calls['poll'],
      ioctl: lib.func('int ioctl(int fd, unsigned long request, ...)') as unknown as Calls['ioctl'],
    };
  } catch {
    // Answered by null: whoever asks goes on without.
  }
  return calls;
}

/** Whether nobody can read any more what is written to this pipe or socket; false where it can not be told. */
export function readerIsGone(fd: number): boolean {
  const asked = new Uint8Array(8); // struct pollfd: int fd, short events, short revents
  const view = new DataView(asked.buffer);
  const little = true; // every platform with prebuilt parts of koffi that Node 24 runs on, but for s390x, which has none
  view.setInt32(0, fd, little);
  if ((kernel()?.poll(asked, 1, 0) ?? 0) <= 0) return false;
  return (view.getInt16(6, little) & POLLERR_OR_HUP) !== 0;
}

/** Bytes in a pipe that nobody has read yet; null where it can not be told. */
export function unreadIn(fd: number): number | null {
  const into = new Uint8Array(4);
  if (kernel()?.ioctl(fd, FIONREAD, 'void *', into) !== 0) return null;
  return new DataView(into.buffer).getInt32(0, true);
}
