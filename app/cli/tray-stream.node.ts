import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import { findOwnSocket } from './tray-request.node.ts';

/** An update from the event stream of the running program. */
type TrayStreamUpdate =
  | { readonly is: 'status'; readonly body: string }
  /** The program is not running, or no longer. */
  | { readonly is: 'gone' };

const RETRY_MS = 1000;

/**
 * Yields the status JSON of the running program, now and after every change, until `signal` aborts. When the program goes away,
 * it yields `gone` once and tries again every second.
 * @throws Fault when the program refuses
 */
export async function* streamTray(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): AsyncGenerator<TrayStreamUpdate, void> {
  const path = findOwnSocket(env);
  for (let isReported = false; !signal.aborted; ) {
    for await (const body of path === null ? [] : streamStatuses(path, signal)) {
      isReported = false;
      yield { is: 'status', body };
    }
    if (signal.aborted) return;
    if (!isReported) yield { is: 'gone' };
    isReported = true;
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {}); // on abort the loop ends
  }
}

/** Reads one connection. HTTP/1.0 makes the stream come unchanged, not in chunks. */
async function* streamStatuses(path: string, signal: AbortSignal): AsyncGenerator<string, void> {
  const socket = connect(path);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  socket.setEncoding('utf8');
  socket.write('GET /api/v1/stream HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
  let text = '';
  let isBody = false;
  try {
    for await (const chunk of socket as AsyncIterable<string>) {
      text += chunk;
      if (!isBody) {
        const end = text.indexOf('\r\n\r\n');
        if (end === -1) continue;
        if (!/^HTTP\/1\.[01] 200/.test(text)) throw toRefusalFault(path, text);
        text = text.slice(end + 4);
        isBody = true;
      }
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const body = /^event: status\ndata: (.*)$/.exec(message)?.[1];
        if (body !== undefined) yield body;
      }
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    // There is no socket, a dead program left it, or the connection broke. The program is gone, and the caller tries again.
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

function toRefusalFault(path: string, text: string): Fault {
  const line = text.slice(0, text.indexOf('\r\n'));
  return new Fault('status', `hivebar refused its stream (${line}, ${path})`, { is: 'machine', key: 'tray' });
}
