import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type ProxyFault =
  | { readonly is: 'status'; readonly status: number }
  /** Accepts, reads, never answers. */
  | { readonly is: 'hang' }
  /** Ends the connection in the middle of the CONNECT. */
  | { readonly is: 'reset' };

/** A proxy on a loopback port that leads every name to one port of this machine, and knows what it was shown. */
export interface FakeProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `HOST:PORT` of every CONNECT. */
  readonly connects: readonly string[];
  /** The headers of every CONNECT. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Every request that was no CONNECT, as it stood in its first line. */
  readonly requests: readonly string[];
  /** Tunnels that are open now. */
  readonly open: number;
  /** Connections, tunnels among them. */
  readonly connections: number;
  fail(fault: ProxyFault | null): void;
}

export async function fakeProxy(toPort: number): Promise<FakeProxy> {
  const connects: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const requests: string[] = [];
  const tunnels = new Set<Duplex>();
  const sockets = new Set<Socket>();
  let fault: ProxyFault | null = null;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // a test breaks it
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, socket) => {
    connects.push(request.url ?? '');
    headers.push(request.headers);
    if (fault?.is === 'hang') return void socket.on('end', () => socket.end()).resume();
    if (fault?.is === 'reset') return void socket.destroy();
    if (fault !== null) return void socket.end(`HTTP/1.1 ${fault.status} no\r\nContent-Length: 2\r\n\r\nno`);
    const far = connect({ host: '127.0.0.1', port: toPort });
    far.on('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(far).pipe(socket);
    });
    far.on('error', () => socket.destroy());
    socket.on('error', () => far.destroy());
    tunnels.add(socket);
    socket.on('close', () => {
      tunnels.delete(socket);
      far.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connects,
    headers,
    requests,
    get open() {
      return tunnels.size;
    },
    get connections() {
      return sockets.size;
    },
    fail(next) {
      fault = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
