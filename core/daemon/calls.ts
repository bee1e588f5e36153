import type { Fsm, Taxonomy } from '../link/index.ts';
import { type Instant, parseJson, parseTimestamp } from '../model/index.ts';
import { type Happening, toCloseCode } from './machine-state.ts';

/** The URLs of the upstream at this moment, and the token for them. */
export interface UpstreamEndpoint extends UpstreamUrls {
  readonly token: string;
}

export interface UpstreamCallsNeeds {
  readonly hello: DaemonHello;
  /** Called for every call. @throws Error if the upstream is unknown now; the message says what is missing */
  readonly upstream: () => UpstreamEndpoint;
  readonly openSession: OpenSession;
  readonly askPending: AskPending;
  /** Reports the outcome of a call; `raw` is the text of a failure, for the log. */
  readonly tell: (happening: Happening, raw?: string) => void;
}

/** The two calls that a daemon makes, each with the number that the machine gave it (persona daemon, contract 2). */
export interface UpstreamCalls {
  open(conn: number): void;
  /** Ends a connection; nothing more is reported of it. */
  terminate(conn: number): void;
  peek(id: number): void;
  dropPeek(id: number): void;
  heartbeat(conn: number, seq: number, frame: DaemonFrame): void;
  /** Says goodbye and closes; resolves when the stream is closed. */
  leave(reason: string): Promise<void>;
  /** Ends the stream if it is still open. */
  cut(): void;
}

export function createUpstreamCalls({
  hello,
  upstream,
  openSession,
  askPending,
  tell,
}: UpstreamCallsNeeds): UpstreamCalls {
  let session: { readonly conn: number; readonly stream: UpstreamSession } | null = null;
  const peeks = new Map<number, AbortController>();

  const terminate = (): void => {
    session?.stream.terminate();
    session = null;
  };

  return {
    open(conn) {
      terminate();
      try {
        const { stream: url, token } = upstream();
        const stream = openSession(
          { url, token, hello: { type: 'hello', ...hello } },
          {
            frame: (text) => tell(parseFrame(conn, text)),
            heard: () => tell({ is: 'heard', conn }),
            garbled: (why) => tell({ is: 'garbled', conn }, why),
            closed: ({ code, status, reason, why }) => {
              const by = status === null ? code : toCloseCode(status);
              tell({ is: 'closed', conn, code: by, retryAfterMs: parseRetryAfter(reason) }, why);
            },
          },
        );
        session = { conn, stream };
      } catch (error) {
        tell({ is: 'closed', conn, code: null, retryAfterMs: null }, formatError(error));
      }
    },
    terminate: (conn) => {
      if (session?.conn === conn) terminate();
    },
    peek(id) {
      const stop = new AbortController();
      peeks.set(id, stop);
      void requestPeek(stop.signal).then(
        (answer) => {
          if (peeks.delete(id)) tell({ is: 'peeked', peek: id, ...answer });
        },
        (error) => {
          if (peeks.delete(id)) tell({ is: 'peek_failed', peek: id }, formatError(error));
        },
      );
    },
    dropPeek(id) {
      const stop = peeks.get(id);
      peeks.delete(id);
      stop?.abort();
    },
    heartbeat(conn, seq, frame) {
      if (session?.conn !== conn) return;
      session.stream.send(frame, (error) => {
        if (error === null) tell({ is: 'heartbeat_sent', conn, seq });
        else tell({ is: 'heartbeat_failed', conn }, error.message);
      });
    },
    async leave(reason) {
      for (const id of [...peeks.keys()]) this.dropPeek(id);
      session?.stream.send({ type: 'bye', reason }, () => {});
      await session?.stream.close();
    },
    cut: terminate,
  };

  async function requestPeek(signal: AbortSignal): Promise<NonNullable<ReturnType<typeof parsePending>>> {
    const { pending, token } = upstream();
    const text = await askPending(pending, token, signal);
    const answer = parsePending(text);
    if (answer === null) throw new Error('the answer to the peek has an unexpected shape');
    return answer;
  }
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a stream reports until it is closed; after that it reports nothing. */
interface SessionListener {
  /** A text frame. */
  frame(text: string): void;
  /** A ping or a pong. */
  heard(): void;
  /** A frame that is too large, not text, or against the protocol. The stream ends by itself. */
  garbled(why: string): void;
  /**
   * The stream ended, or never began. `code`: of its close frame; null: none came. `status`: of the HTTP answer that refused it.
   * `why` is for the log.
   */
  closed(how: {
    readonly code: number | null;
    readonly status: number | null;
    readonly reason: string;
    readonly why: string;
  }): void;
}

/** One connection of a session stream (persona daemon, contract 2). */
interface UpstreamSession {
  /** Sends a frame. `sent` is called once with the result; null: the system took the frame. */
  send(frame: DaemonFrame, sent: (error: Error | null) => void): void;
  /** Says goodbye and closes; resolves when the stream is closed. */
  close(): Promise<void>;
  /** Ends the stream without a goodbye; its listener is not called any more. */
  terminate(): void;
}

/** What is needed to open a stream. */
interface StreamOpening {
  readonly url: string;
  readonly token: string;
  readonly hello: DaemonFrame;
}

/** Opens a stream and sends the hello. Never throws: a stream that cannot be opened reports `closed`. */
export type OpenSession = (opening: StreamOpening, listener: SessionListener) => UpstreamSession;

/**
 * Asks what is pending. @returns the body of the answer
 * @throws Error with what went wrong, for the log
 */
export type AskPending = (url: string, token: string, signal: AbortSignal) => Promise<string>;

/** How a daemon introduces itself when its stream opens (persona daemon, contract 2). */
interface DaemonHello {
  readonly kind: 'daemon';
  readonly tenant_id: string;
  readonly identity: string;
  readonly surface: string;
  readonly project: string;
  readonly machine_id: string;
  readonly version: string;
  readonly proto: 1;
  /** A hint for the tools of the agent, passed on unchanged. */
  readonly autonomy?: string;
}

/** All frames that a daemon sends. */
export type DaemonFrame =
  | ({ readonly type: 'hello' } & DaemonHello)
  | {
      readonly type: 'heartbeat';
      readonly seq: number;
      readonly fsm: Fsm;
      readonly taxonomy: Taxonomy;
      readonly pending_depth: number;
      readonly drain_age_s: number;
    }
  | { readonly type: 'bye'; readonly reason: string };

/** With a longer interval nobody would know whether the daemon lives. */
const LONGEST_HEARTBEAT_MS = 60_000;

/** Parses a frame of the upstream. An unknown or incomplete frame counts only as `heard`. */
export function parseFrame(conn: number, text: string): Happening {
  const frame = parseObject(text);
  if (frame === null) return { is: 'garbled', conn };
  const heard: Happening = { is: 'heard', conn };
  const { rev } = frame;
  switch (frame.type) {
    case 'welcome': {
      const { registration_id, heartbeat_ms } = frame;
      if (typeof registration_id !== 'string' || !isCount(heartbeat_ms) || !isCount(rev)) return heard;
      const heartbeatMs = Math.min(heartbeat_ms, LONGEST_HEARTBEAT_MS);
      const [tenant, identity] = [parseText(frame.tenant_id), parseText(frame.identity)];
      return { is: 'welcome', conn, registration: registration_id, heartbeatMs, rev, tenant, identity };
    }
    case 'pending_changed':
      return isCount(rev) ? { is: 'pending_changed', conn, rev } : heard;
    case 'drained': {
      const { remaining } = frame;
      return isCount(rev) && isCount(remaining) ? { is: 'drained', conn, rev, remaining } : heard;
    }
    case 'lifecycle': {
      const { verb } = frame;
      return verb === 'wrap' || verb === 'archive' || verb === 'destroy' ? { is: 'lifecycle', conn, verb } : heard;
    }
    default:
      return heard;
  }
}

/** Parses the answer to a peek: a revision, a count and a time; other fields are ignored. Null: the answer has another shape. */
export function parsePending(
  text: string,
): { readonly rev: number; readonly count: number; readonly oldest: Instant | null } | null {
  const answer = parseObject(text);
  if (answer === null) return null;
  const { rev, count, oldest_at } = answer;
  const isTime = oldest_at === null || (typeof oldest_at === 'string' && oldest_at.length <= 64);
  if (!isCount(rev) || !isCount(count) || !isTime) return null;
  return { rev, count, oldest: oldest_at === null ? null : parseTimestamp(oldest_at) };
}

/** How long a 4429 asks to wait, in milliseconds, from the JSON in the close reason; null: it does not say. */
export function parseRetryAfter(reason: string): number | null {
  const ms = parseObject(reason)?.retry_after_ms;
  return isCount(ms) ? ms : null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function parseText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // the caller decides what a text without an object means
  }
}

/** The URLs of the two calls of a daemon (persona daemon, contract 2). */
interface UpstreamUrls {
  /** `wss:`, or `ws:` to this machine. */
  readonly stream: string;
  /** `https:`, or `http:` to this machine. */
  readonly pending: string;
}

/**
 * Computes the URLs of an upstream from its base: an http(s) or ws(s) URL, with or without a path. Null: it is not such a URL, or
 * a token must not be sent there, because the connection is neither encrypted nor on this machine.
 */
export function parseUpstreamUrls(base: string): UpstreamUrls | null {
  const url = URL.parse(base);
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return null;
  const scheme = /^(?:http|ws)(s?):$/.exec(url.protocol);
  if (scheme === null) return null;
  const [, s = ''] = scheme;
  if (s === '' && !isLoopback(url.hostname)) return null;
  const rest = `${url.host}${url.pathname.replace(/\/+$/, '')}/v1`;
  return { stream: `ws${s}://${rest}/session/stream`, pending: `http${s}://${rest}/signals/pending` };
}

/** Expects a host as a URL gives it, which writes every form of an IPv4 address in one way. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
