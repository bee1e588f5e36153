import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { guard, type Place } from './guard.ts';
import { SECURITY_HEADERS } from './headers.ts';
import { problemBody } from './problem.ts';

const HEADERS = Object.entries(SECURITY_HEADERS);
/** More connections than this on one listener are closed unanswered. */
const MAX_CONNECTIONS = 512;

/** What the parser and its timers say of a request that never became one. */
const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** How long a client may take, in milliseconds; each is told apart within `check`. */
export interface Patience {
  /** For its headers, from the connection or the end of the request before. */
  readonly headers: number;
  /** For its whole request. */
  readonly request: number;
  /** Between two requests. */
  readonly idle: number;
  readonly check: number;
}

const PATIENCE: Patience = { headers: 10_000, request: 30_000, idle: 5_000, check: 2_000 };

/**
 * An HTTP server that lets only guarded requests through to `handle`. The guard stands in front of the router, so there
 * is no route, no unknown route, no malformed path and no error answer without it. `place` is asked at each request: a
 * loopback server knows its port only once it listens.
 */
export function frontServer(
  place: () => Place,
  handle: (request: IncomingMessage, response: ServerResponse, place: Place) => void,
  patience: Patience = PATIENCE,
): Server {
  const options = {
    requireHostHeader: false, // the guard says it better, and to HTTP/1.0 too
    maxHeaderSize: 16 * 1024,
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    keepAliveTimeout: patience.idle,
    connectionsCheckingInterval: patience.check,
  };
  const server = createServer(options, (request, response) => {
    for (const [name, value] of HEADERS) response.setHeader(name, value);
    const here = place();
    const { method = '', url = '', rawHeaders } = request;
    const verdict = guard({ method, target: url, rawHeaders }, here);
    if (verdict.is === 'pass') return handle(request, response, here);
    response.statusCode = verdict.status;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Connection', 'close'); // whatever body follows is not read
    if (verdict.status === 405) response.setHeader('Allow', 'GET, HEAD, POST');
    response.end(method === 'HEAD' ? '' : problemBody(verdict));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = STATUS[error.code ?? ''] ?? '400 Bad Request';
    if (!socket.writable) return void socket.destroy();
    const headers = HEADERS.map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n${headers.join('')}\r\n`);
  });
  return server;
}
