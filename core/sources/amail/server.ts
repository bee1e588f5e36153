import { Fault } from '../../model/index.ts';
import { formatUrl, type HttpResponse } from '../../net/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { createTroubleLog } from '../../services/index.ts';
import { isLivenessAnswer, type MailProject, parseAgentNames, parseUnifiedInbox, type UnifiedInbox } from './answer.ts';
import { createServerFault } from './settings.ts';

/** Sends requests to the one server; whoever watches uses `get` alone. `createHttpClient` of core/net creates one that accepts the status 503. */
export interface MailFetcher extends AsyncDisposable {
  get(
    path: string,
    signal: AbortSignal,
    options?: { readonly deadlineMs?: number },
  ): Promise<Pick<HttpResponse, 'body' | 'status'>>;
  post(path: string, body: object, signal: AbortSignal): Promise<Pick<HttpResponse, 'body' | 'status'>>;
  reset?(): void;
}

export interface MailServerOptions {
  /** Owned by the server, which closes it. */
  readonly fetcher: MailFetcher;
  /** `http://HOST:PORT` */
  readonly base: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content a message has; null leaves content out. */
  readonly contentChars: number | null;
}

/**
 * The four routes of a server that a watcher may call (agent-mail contract 2), and the one with which a person marks mail as read.
 * One request runs at a time.
 */
export interface MailServer extends AsyncDisposable {
  /** The newest messages, the same object for the same answer; null while the server is degraded and gives none. @throws Fault */
  listMail(limit: number, signal: AbortSignal): Promise<MailWindow | null>;
  /**
   * All projects, also those without mail. The Rust server answers from its store. The Python server would write into its own, so
   * it is not asked. @throws Fault
   */
  listProjects(signal: AbortSignal): Promise<readonly MailProject[]>;
  /** The names of the agents of a project; null when the server knows none. @throws Fault */
  listAgents(project: string, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Marks messages to an agent as read, at most 500. Only a person has it done. @throws Fault */
  markRead(project: string, name: string, ids: readonly number[], signal: AbortSignal): Promise<void>;
  /** Whether such a server answers. @throws Fault when nothing answers */
  isAlive(signal: AbortSignal): Promise<boolean>;
  reset(): void;
}

type ServerAnswer = Pick<HttpResponse, 'body' | 'status'>;

export interface MailWindow {
  readonly answer: UnifiedInbox;
  /** How many messages were asked for. It is less than was wanted when so many are too large. */
  readonly limit: number;
}

/** The server gives a request 30 s; a watcher does not wait as long (agent-mail contract 5). */
export const REQUEST_MS = 10_000;
export const UNAVAILABLE = 503;
const ALIVE_MS = 2000;
/** How long a smaller window is read after an answer was too large. */
const SMALL_MS = 600_000;
/** A longer answer is not held to be compared with the next one. */
const MOST_HELD_BYTES = 4 * 1024 * 1024;

export function createMailServer({ fetcher, base, clock, log, contentChars }: MailServerOptions): MailServer {
  let last: Promise<void> = Promise.resolve();
  /** An answer is parsed once for as long as it stays the same. */
  let parsed: { readonly body: Uint8Array; readonly window: MailWindow } | null = null;
  /** After an answer was too large, only so many messages are asked for until then. */
  let smallLimit = 1;
  let smallUntil = Number.NEGATIVE_INFINITY;
  const trouble = createTroubleLog(log);

  const get = (path: string, signal: AbortSignal, deadlineMs = REQUEST_MS): Promise<ServerAnswer> =>
    askInTurn(() => fetcher.get(path, signal, { deadlineMs }), signal);

  /** Begins when the request before has ended. */
  function askInTurn(ask: () => Promise<ServerAnswer>, signal: AbortSignal): Promise<ServerAnswer> {
    const before = last;
    const request = (async () => {
      await waitUnlessAborted(before, signal);
      signal.throwIfAborted();
      return await ask();
    })();
    last = Promise.allSettled([before, request]).then(() => {}); // without the answers, which would live on in it
    return request.catch((error: unknown) => {
      throw toServerFault(error);
    });
  }

  const getName = (path: string): string => formatUrl(new URL(path, base));
  const turn = (signal: AbortSignal) => () => clock.sleep(0, signal);

  async function listMail(wanted: number, signal: AbortSignal): Promise<MailWindow | null> {
    const most = clock.monotonic() < smallUntil ? smallLimit : wanted;
    for (let limit = Math.min(wanted, most); ; limit = Math.max(1, Math.floor(limit / 4))) {
      const path = `/mail/api/unified-inbox?limit=${limit}`;
      try {
        const { body, status } = await get(path, signal);
        if (status === UNAVAILABLE) return null;
        if (parsed?.window.limit === limit && Buffer.compare(parsed.body, body) === 0) return parsed.window;
        const answer = await parseUnifiedInbox(body, getName(path), { turn: turn(signal), contentChars });
        if (answer.unreadable === 0) trouble.clear(`${base}: every message can be read again`);
        else trouble.raise(`${base}: ${answer.unreadable} messages cannot be read. The others are used.`);
        if (limit < wanted && limit < most) {
          smallLimit = limit;
          smallUntil = clock.monotonic() + SMALL_MS;
        }
        const window = { answer, limit };
        parsed = body.length > MOST_HELD_BYTES ? null : { body, window };
        return window;
      } catch (error) {
        if (!(error instanceof Fault && error.code === 'too-large') || limit === 1) throw error;
      }
    }
  }

  return {
    listMail,
    async listProjects(signal) {
      const path = '/mail/api/unified-inbox?limit=1&include_projects=true';
      const { body, status } = await get(path, signal);
      if (status === UNAVAILABLE) throw createServerFault('status', `${getName(path)}: answered 503`);
      return (await parseUnifiedInbox(body, getName(path), { turn: turn(signal), contentChars: 0 })).projects;
    },
    async listAgents(project, signal) {
      const path = `/mail/api/projects/${encodeURIComponent(project)}/agents`;
      try {
        const { body, status } = await get(path, signal);
        if (status === UNAVAILABLE) throw createServerFault('status', `${getName(path)}: answered 503`);
        return await parseAgentNames(body, getName(path), turn(signal));
      } catch (error) {
        if (error instanceof Fault && error.code === 'amail-too-old') return null;
        throw error;
      }
    },
    async markRead(project, name, ids, signal) {
      const path = `/mail/${encodeURIComponent(project)}/inbox/${encodeURIComponent(name)}/mark-read`;
      const { status } = await askInTurn(() => fetcher.post(path, { message_ids: ids }, signal), signal);
      if (status === UNAVAILABLE) throw createServerFault('status', `${getName(path)}: answered 503`);
    },
    async isAlive(signal) {
      const { body, status } = await get('/health/liveness', signal, ALIVE_MS);
      return status !== UNAVAILABLE && isLivenessAnswer(body);
    },
    reset: () => fetcher.reset?.(),
    [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose](),
  };
}

/** The faults of HTTP in the words of this server (agent-mail contract 5). */
function toServerFault(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  if (error.code === 'unauthorized') return createServerFault('amail-token', error.message, { cause: error });
  if (error.code === 'not-found')
    return createServerFault('amail-too-old', `${error.message}, which newer servers have`, { cause: error });
  return error;
}

function waitUnlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) done();
    signal.addEventListener('abort', done, { once: true });
    work.then(done, done);
  });
}
