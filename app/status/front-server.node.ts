import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { formatProblem, type Problem, SECURITY_HEADERS, toProblem } from './answer.ts';
import { endSoon, type Patience, watchConnections } from './connections.node.ts';
import { type GuardVerdict, guard, type ListenerKind } from './guard.ts';

const HEADERS = Object.entries(SECURITY_HEADERS);

/** Status lines for what the parser and its timers report, when no request could be read. */
const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const PATIENCE: Patience = { headers: 9000, request: 30_000, idle: 5000, drain: 10_000, check: 500 };

/** Answers the requests that passed the guard. */
export interface GuardedHandler {
  handle(request: IncomingMessage, response: ServerResponse, origin: RequestOrigin): void;
  /** Takes over the connection of a WebSocket request. @throws when it is refused; the refusal is answered here */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, origin: RequestOrigin): void;
}

/** The listener that a request came in on, and its connection. */
export interface RequestOrigin {
  readonly place: ListenerKind;
  /** Marks that the client has shown a token. */
  trust(): void;
}

/**
 * Creates an HTTP server that passes only guarded requests on. The guard stands in front of the router, so it also covers unknown
 * routes, malformed paths and error answers. `place` is called for each request, because a loopback server knows its port only
 * once it listens.
 */
export function createFrontServer(
  place: () => ListenerKind,
  handler: GuardedHandler,
  patience: Patience = PATIENCE,
): Server {
  const options = {
    requireHostHeader: false, // the guard has a better answer, also for HTTP/1.0
    maxHeaderSize: 16 * 1024,
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    keepAliveTimeout: patience.idle,
    connectionsCheckingInterval: patience.check,
    // Offers of any other protocol in an ordinary request are ignored.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  };
  const connections = watchConnections(patience);
  const judge = ({ method = '', url = '', rawHeaders }: IncomingMessage, listener: ListenerKind): GuardVerdict =>
    guard({ method, target: url, rawHeaders }, listener);
  const server = createServer(options, (request, response) => {
    for (const [name, value] of HEADERS) response.setHeader(name, value);
    const { socket } = request;
    connections.begin(socket, response);
    const listener = place();
    const verdict = judge(request, listener);
    const origin = { place: listener, trust: () => connections.trust(socket) };
    if (verdict.is === 'pass') return handler.handle(request, response, origin);
    response.statusCode = verdict.status;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Connection', 'close'); // a body that follows is not read
    if (verdict.status === 405) response.setHeader('Allow', 'GET, HEAD, POST');
    response.end(request.method === 'HEAD' ? '' : formatProblem(verdict));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    connections.upgrade(socket);
    const listener = place();
    const verdict = judge(request, listener);
    if (verdict.is === 'refuse') return endWithProblem(socket, verdict);
    try {
      handler.upgrade(request, socket, head, { place: listener, trust: () => connections.trust(socket) });
    } catch (error) {
      endWithProblem(socket, toProblem(error));
    }
  });
  server.on('connection', connections.add);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    answerRaw(socket, STATUS[error.code ?? ''] ?? '400 Bad Request', [], '');
  });
  return server;
}

/** Answers a refused upgrade directly, because the server has no response object for it. */
function endWithProblem(socket: Duplex, problem: Problem): void {
  const headers = ['Content-Type: application/json; charset=utf-8\r\n'];
  if (problem.status === 401) headers.push('WWW-Authenticate: Bearer\r\n');
  answerRaw(socket, `${problem.status} ${STATUS_CODES[problem.status] ?? ''}`, headers, formatProblem(problem));
}

function answerRaw(socket: Duplex, status: string, extraHeaders: readonly string[], body: string): void {
  const headers = [...HEADERS.map(([name, value]) => `${name}: ${value}\r\n`), ...extraHeaders].join('');
  const length = Buffer.byteLength(body);
  endSoon(socket, `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: ${length}\r\n${headers}\r\n${body}`);
}
