import { toCloseCode } from './backoff.ts';
import { type DaemonFrame, type DaemonHello, parseFrame, parsePending, parseRetryAfter } from './frames.ts';
import type { Happening } from './machine-state.ts';
import type { AskPending, OpenSession, UpstreamSession } from './session.ts';
import type { UpstreamUrls } from './upstream-url.ts';

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
    if (answer === null) throw new Error('the answer to the peek has another shape');
    return answer;
  }
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
