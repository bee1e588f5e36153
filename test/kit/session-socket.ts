import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

/** Stands for the socket of a session of Claude Code: it takes whatever connections bring, and acknowledges nothing. */
export interface SessionSocket extends AsyncDisposable {
  readonly path: string;
  readonly folder: string;
  /** What each connection brought that was ended by its other side. */
  readonly received: readonly string[];
  /** How many connections there were. */
  readonly count: number;
}

/** @param ends whether it ends a connection after its other side did, as a session may or may not do */
export async function sessionSocket(ends = true): Promise<SessionSocket> {
  const place = scratch();
  const path = join(place.dir, '4711.sock');
  const received: string[] = [];
  const open = new Set<Socket>();
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    count += 1;
    open.add(socket);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.on('end', () => {
      received.push(text);
      if (ends) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    ...{ path, folder: place.dir, received },
    get count() {
      return count;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      place[Symbol.dispose]();
    },
  };
}
