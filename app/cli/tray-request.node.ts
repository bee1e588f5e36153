import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { findOwnDirs } from '../../core/state/dirs.node.ts';
import { resolveOwnerSocketPath } from '../owner-socket.ts';

interface TrayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** JSON, or null for no body. */
  readonly body: string | null;
}

export type TrayResponse =
  | { readonly is: 'answered'; readonly status: number; readonly body: string }
  | { readonly is: 'not-running' };

const TIMEOUT_MS = 10_000;
/** Errors that mean nobody listens: no socket, a socket that a dead process left behind, or another kind of file. */
const NOBODY: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ELOOP', 'EISDIR']);

/**
 * Sends a request to the running tray process over its owner-only socket. It uses plain `node:net`, because loading an HTTP
 * client would take a third of the whole start of `hivebar status`.
 * @throws Fault when the socket exists and no complete response comes
 */
export function askTray(
  request: TrayRequest,
  env: Readonly<Record<string, string | undefined>>,
  withinMs = TIMEOUT_MS,
  stop: AbortSignal | null = null,
): Promise<TrayResponse> {
  const path = findOwnSocket(env);
  if (path === null || stop?.aborted) return Promise.resolve({ is: 'not-running' });
  return new Promise((resolve, reject) => {
    stop?.addEventListener('abort', () => fail('timeout', 'nobody waits for the answer any more'), { once: true });
    const fail = (code: 'timeout' | 'broken' | 'unreadable', detail: string, cause?: Error): void => {
      socket.destroy();
      const scope = { is: 'machine', key: 'tray' } as const;
      reject(new Fault(code, `${detail} (${path})`, scope, cause === undefined ? {} : { cause }));
    };
    const chunks: Buffer[] = [];
    const socket = connect(path, () => socket.write(formatHttpRequest(request)));
    // After a pause of this process the timeout fires before what arrived meanwhile is read, so that comes first.
    const failTimeout = (): void => fail('timeout', `hivebar: timed out after ${withinMs / 1000} s`);
    socket.setTimeout(withinMs, () => void setImmediate(failTimeout));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      const answer = parseHttpResponse(Buffer.concat(chunks));
      if (answer === null) fail('broken', 'hivebar closed the connection before its answer was complete');
      else resolve({ is: 'answered', ...answer });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (NOBODY.has(error.code ?? '')) resolve({ is: 'not-running' });
      else if (error.code === 'EACCES' || error.code === 'EPERM') fail('unreadable', error.message, error);
      else fail('broken', error.message, error);
    });
  });
}

/** Formats a request for a connection that carries only one: the end of the response is the end of the connection. */
function formatHttpRequest({ method, path, body }: TrayRequest): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', 'Accept: application/json'];
  if (body !== null) head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${head.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Returns the socket of this user's tray process; null when the folder belongs to another user, who must not be asked. */
export function findOwnSocket(env: Readonly<Record<string, string | undefined>>): string | null {
  const uid = process.geteuid?.() ?? null;
  const path = resolveOwnerSocketPath(process.platform, findOwnDirs({ ...env }).run, uid);
  if (uid === null) return path;
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false });
  return folder === undefined || folder.uid === uid ? path : null;
}

/**
 * Parses a whole HTTP response whose end was the end of the connection; null when it is cut short or not HTTP. The response
 * must state its length. Without a length, the response of a server that was killed halfway would look complete.
 */
export function parseHttpResponse(bytes: Buffer): { readonly status: number; readonly body: string } | null {
  const split = bytes.indexOf('\r\n\r\n');
  if (split === -1) return null;
  const head = bytes.toString('latin1', 0, split);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const body = bytes.subarray(split + 4);
  if (status === undefined || Number(length) !== body.length) return null;
  return { status: Number(status), body: body.toString('utf8') };
}
