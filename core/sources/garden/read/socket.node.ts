import { lstatSync } from 'node:fs';
import { connect } from 'node:net';

/** What a control socket shows about its listener. */
export type SocketListener = 'listening' | 'refused' | 'absent' | 'implausible' | 'uncertain';

/**
 * Connects to the socket and disconnects at once. A symlink or a file in the socket's place is not touched (garden contract 7).
 */
export async function probeListener(path: string, withinMs: number): Promise<SocketListener> {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return 'absent';
    if (!stat.isSocket()) return 'implausible';
  } catch {
    return 'uncertain'; // the directory cannot be read
  }
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (listener: SocketListener): void => {
      socket.destroy();
      resolve(listener);
    };
    socket.setTimeout(withinMs, () => answer('uncertain'));
    socket.on('connect', () => answer('listening'));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      answer(error.code === 'ECONNREFUSED' ? 'refused' : error.code === 'ENOENT' ? 'absent' : 'uncertain');
    });
  });
}
