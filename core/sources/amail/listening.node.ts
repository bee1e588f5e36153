import { connect } from 'node:net';

const DIAL_MS = 1000;

/** Whether something accepts connections at the address. Nothing is sent to it. */
export function isListening({ hostname, port }: URL, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = connect({ host, port: Number(port || 80) });
    const finish = (is: boolean) => (): void => {
      signal.removeEventListener('abort', aborted);
      socket.destroy();
      resolve(is);
    };
    const aborted = finish(false);
    signal.addEventListener('abort', aborted, { once: true });
    socket.setTimeout(DIAL_MS, finish(false));
    socket.on('connect', finish(true));
    socket.on('error', finish(false));
    if (signal.aborted) aborted();
  });
}
