import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * Keeps a port that refuses every connection, so that the system gives it to nobody else meanwhile: it is the near end of a connection,
 * and nobody listens on it.
 */
export async function holdPort(port: number, host: string): Promise<Disposable> {
  const far = createServer((socket) => socket.on('error', () => {})).listen(0, host);
  await once(far, 'listening');
  const near = connect({ host, port: (far.address() as AddressInfo).port, localAddress: host, localPort: port });
  await once(near, 'connect');
  near.on('error', () => {});
  return {
    [Symbol.dispose]() {
      near.resetAndDestroy(); // an ordinary end would keep the port for a minute
      far.close();
    },
  };
}
