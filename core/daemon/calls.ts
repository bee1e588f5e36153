import { codeOfStatus } from './backoff.ts';
import { type ClientFrame, type Hello, happeningOf, pendingOf, retryAfterOf } from './frames.ts';
import type { Happening } from './machine-state.ts';
import type { AskPending, OpenSession, Session } from './session.ts';
import type { UpstreamUrls } from './upstream-url.ts';

/** Where the upstream is at this moment, and what opens it. */
export interface Upstream extends UpstreamUrls {
  readonly token: string;
}

export interface CallsNeeds {
  readonly hello: Hello;
  /** Asked at every call. @throws Error when it can not be said now, with what is missing */
  readonly upstream: () => Upstream;
  readonly openSession: OpenSession;
  readonly askPending: AskPending;
  /** What came of a call; `raw` are the words of a failure, for the log. */
  readonly tell: (happening: Happening, raw?: string) => void;
}

/** The two calls of a daemon, each by the number the machine gave it; there is no third (persona daemon, contract 2). */
export interface Calls {
  open(conn: number): void;
  /** Nothing more is heard of this one. */
  terminate(conn: number): void;
  peek(id: number): void;
  dropPeek(id: number): void;
  heartbeat(conn: number, seq: number, frame: ClientFrame): void;
  /** Says goodbye and closes; resolves when it is closed. */
  leave(reason: string): Promise<void>;
  /** Ends what is still open. */
  cut(): void;
}

export function upstreamCalls({ hello, upstream, openSession, askPending, tell }: CallsNeeds): Calls {
  let session: { readonly conn: number; readonly stream: Session } | null = null;
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
            frame: (text) => tell(happeningOf(conn, text)),
            heard: () => tell({ is: 'heard', conn }),
            garbled: (why) => tell({ is: 'garbled', conn }, why),
            closed: ({ code, status, reason, why }) => {
              const by = status === null ? code : codeOfStatus(status);
              tell({ is: 'closed', conn, code: by, retryAfterMs: retryAfterOf(reason) }, why);
            },
          },
        );
        session = { conn, stream };
      } catch (error) {
        tell({ is: 'closed', conn, code: null, retryAfterMs: null }, messageOf(error));
      }
    },
    terminate: (conn) => {
      if (session?.conn === conn) terminate();
    },
    peek(id) {
      const stop = new AbortController();
      peeks.set(id, stop);
      void peeked(stop.signal).then(
        (found) => {
          if (peeks.delete(id)) tell({ is: 'peeked', peek: id, ...found });
        },
        (error) => {
          if (peeks.delete(id)) tell({ is: 'peek_failed', peek: id }, messageOf(error));
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

  async function peeked(signal: AbortSignal): Promise<NonNullable<ReturnType<typeof pendingOf>>> {
    const { pending, token } = upstream();
    const text = await askPending(pending, token, signal);
    const found = pendingOf(text);
    if (found === null) throw new Error('the answer to the peek has another shape');
    return found;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
