import type { FastifyReply, FastifyRequest } from 'fastify';
import { FAULTS, Fault, JsonRefusal } from '../../core/model/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the sender may do: `owner` with the token or on the owner-only socket. */
    right: 'owner' | 'anyone';
    /** The class of client whose places a long request takes. */
    client: ClientClass;
    /** The id of the device whose key was sent; null for the token, the owner-only socket, or nothing. */
    device: string | null;
  }
  interface FastifyContextConfig {
    /** When present, the route answers without the token whatever the settings say, and shows nothing of what is watched. */
    readonly tellsNothing?: true;
    /** When present, the route checks tokens itself, because it also accepts the tokens of daemons. */
    readonly ownTokens?: true;
    /**
     * When present, the answer is compressed for a client that asks for it. Only for what anyone may read: the length of a
     * compressed text tells how much of it repeats, so no secret may stand beside text that others choose.
     */
    readonly compresses?: true;
  }
}

/** Requires the token, which message text and actions need (Decision 4). @throws Refusal 401 unless the sender has it. */
export function requireToken(request: FastifyRequest): void {
  if (request.right !== 'owner') throw createTokenRefusal();
}

/**
 * Refuses the key of a device where it could get what lasts longer than the device: with the token of the run directory, or with a
 * new one-time link, a stolen key would outlive its revocation. @throws Refusal 403
 */
export function refuseDevice(request: FastifyRequest): void {
  if (request.device === null) return;
  const next = 'use the token of the run directory, or the command line';
  throw new HttpRefusal(403, 'not-for-devices', 'a logged-in browser may not do this', next);
}

export function createTokenRefusal(): HttpRefusal {
  return createUnauthorizedRefusal('this needs the token');
}

export function createUnauthorizedRefusal(message: string): HttpRefusal {
  const next = 'send Authorization: Bearer TOKEN with the token of the run directory, or use the CLI';
  return new HttpRefusal(401, 'unauthorized', message, next);
}

/** The system says that another user of this machine sent what only its owner has. */
export function createStrangerRefusal(secret: string): HttpRefusal {
  const message = `${secret} came from another user of this machine`;
  const next = 'log in as the user who runs Hivebar, or give the page the token of its run directory';
  return new HttpRefusal(403, 'another-user', message, next);
}

export function answerProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) void reply.header('WWW-Authenticate', 'Bearer');
  return reply.code(problem.status).type('application/json; charset=utf-8').send(formatProblem(problem));
}

/** Whether the client has hung up, as far as that is known in this turn. */
export function isGone({ raw }: FastifyReply): boolean {
  return raw.destroyed || raw.socket === null || raw.socket.destroyed || raw.socket.readableEnded;
}

export function answerJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
}

/** The kind of client: without a token, with a token, or over the owner-only socket. */
export type ClientClass = 'anonymous' | 'token' | 'socket';

/** Places for requests that stay open for long. No class of client can use up the places of another. */
export interface ClientBudget {
  /** The number of taken places, in all classes. */
  readonly used: number;
  /** The number of places for each class. */
  readonly most: Readonly<Record<ClientClass, number>>;
  /** Takes a place until it is disposed. Returns null when all places of this class are taken. */
  take(client: ClientClass): Disposable | null;
}

/** `mostAnonymous`: the places for clients without the token. `mostOwned`: those for each class that only the owner can use. */
export function createBudget(mostAnonymous: number, mostOwned = mostAnonymous): ClientBudget {
  const most = { anonymous: mostAnonymous, token: mostOwned, socket: mostOwned };
  const used: Record<ClientClass, number> = { anonymous: 0, token: 0, socket: 0 };
  return {
    get used() {
      return used.anonymous + used.token + used.socket;
    },
    most,
    take(client) {
      if (used[client] >= most[client]) return null;
      used[client] += 1;
      let isHeld = true;
      return {
        [Symbol.dispose]: () => {
          if (isHeld) used[client] -= 1;
          isHeld = false;
        },
      };
    },
  };
}

const WHOSE: Readonly<Record<ClientClass, string>> = {
  anonymous: 'without the token',
  token: 'with a token',
  socket: 'of the owner-only socket',
};

/** Formats the text of a refusal: `200 streams without the token are open`. */
export function formatBudgetFull(subject: string, { most }: ClientBudget, client: ClientClass): string {
  return `${most[client]} ${subject} ${WHOSE[client]} are open`;
}

/**
 * The headers of every answer, also of refusals and streams. No other site can run, frame or read what we serve. There are no
 * CORS headers.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  // A page that opened ours in a window cannot control it, for example move it to another address.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** What the page itself may load: its own scripts, style, icon and data. Inline code and other origins are not allowed. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** A refusal in the form `{"error": {code, message, next}}`, which all refusals have. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** What the sender should do. */
  readonly next: string;
}

/** A route throws this to refuse a request. */
export class HttpRefusal extends Error {
  readonly problem: Problem;

  constructor(status: number, code: string, message: string, next: string) {
    super(message);
    this.name = 'Refusal';
    this.problem = { status, code, message, next };
  }
}

/** Fastify's code for a body over its limit. */
const TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE';

/** Converts any thrown value to what the sender is told. An unexpected error reveals nothing about our internals. */
export function toProblem(error: unknown, bodyLimit?: number): Problem {
  if (error instanceof HttpRefusal) return error.problem;
  if (error instanceof JsonRefusal) {
    const message = `the body could not be read: ${error.message}`;
    return { status: 400, code: 'bad-request', message, next: 'send a JSON object as /openapi.json describes it' };
  }
  if (bodyLimit !== undefined && error instanceof Error && 'code' in error && error.code === TOO_LARGE) {
    const message = `the body is larger than ${bodyLimit} bytes`;
    return { status: 413, code: 'too-large', message, next: `send at most ${bodyLimit} bytes` };
  }
  if (error instanceof Fault) {
    const entry: { readonly next: string; readonly http?: number } = FAULTS[error.code];
    return {
      status: entry.http ?? 500,
      code: error.code,
      message: error.message,
      next: error.code === 'usage' ? 'correct the request and send it again' : entry.next,
    };
  }
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  ) {
    const message = error.message;
    const isPath = 'code' in error && error.code === 'FST_ERR_BAD_URL';
    const next = isPath ? 'encode each part of the path, % as %25' : 'correct the request and send it again';
    return { status: error.statusCode, code: 'bad-request', message, next };
  }
  return { status: 500, code: 'internal', message: 'this request failed inside Hivebar', next: FAULTS.internal.next };
}

export function formatProblem({ code, message, next }: Problem): string {
  return JSON.stringify({ error: { code, message, next } });
}
