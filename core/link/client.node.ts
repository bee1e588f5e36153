import { connect } from 'node:net';
import { realClock, realFiles } from '../ports/index.ts';
import { getErrno, readText } from '../state/index.ts';
import { type Answers, type LinkRefusal, parseAnswerLine, parseRingAnswer, parseStatus } from './answers.ts';
import { createLineCutter } from './lines.ts';
import { type DaemonPlaces, LONGEST_SOCKET } from './places.ts';
import { formatRequestLine, type LinkRequest } from './request.ts';

export type AskResult<V extends LinkRequest['verb']> =
  | { readonly is: 'answered'; readonly answer: Answers[V] }
  /** No token file, no socket, or nobody behind it; also who died while it was asked. */
  | { readonly is: 'not-running' }
  /** Null: it hung up without a word, as it does on who has not its token. */
  | { readonly is: 'refused'; readonly error: LinkRefusal | null; readonly message: string }
  | { readonly is: 'bad-answer' }
  /** Nothing came in time. */
  | { readonly is: 'silent' };

export interface AskOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

type RawAnswer =
  | { readonly is: 'line'; readonly line: string }
  | { readonly is: 'closed' | 'forbidden' | 'not-running' | 'silent' | 'bad-answer' };

const HUNG_UP = 'it hung up without a word';

/** A status with all its transitions has a twentieth of it. */
const LONGEST_ANSWER = 1024 * 1024;

const LONGEST_TOKEN = 4096;

/** One request to a daemon over a connection of its own (persona daemon, contract 4). Never throws. */
export async function askDaemon<R extends LinkRequest>(
  places: Pick<DaemonPlaces, 'socket' | 'token'>,
  request: R,
  { timeoutMs, signal }: AskOptions,
): Promise<AskResult<R['verb']>> {
  const { socket } = places;
  const token = readToken(places.token);
  if (token === null || isTooLong(socket)) return { is: 'not-running' };
  const raw = await exchangeLine(socket, formatRequestLine(request, token), timeoutMs, signal);
  switch (raw.is) {
    case 'line':
      return toAskResult(request, raw.line);
    case 'closed':
      // A process that dies hangs up as well: whoever refuses still listens.
      if (!(await isListening(places, timeoutMs))) return { is: 'not-running' };
      return { is: 'refused', error: null, message: HUNG_UP };
    case 'forbidden':
      return { is: 'refused', error: null, message: HUNG_UP };
    default:
      return { is: raw.is };
  }
}

/** Whether somebody answers at the socket of a daemon. Nothing is said. Never throws. */
export async function isListening(
  { socket, token }: Pick<DaemonPlaces, 'socket' | 'token'>,
  timeoutMs: number,
): Promise<boolean> {
  // Without a token nobody was left behind, and to look is cheaper than to load what connects.
  if (readToken(token) === null || isTooLong(socket)) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  using _ = realClock.after(timeoutMs, () => resolve(false));
  const peer = connect(socket, () => resolve(true));
  peer.on('error', () => resolve(false));
  try {
    return await promise;
  } finally {
    peer.destroy();
  }
}

function toAskResult<R extends LinkRequest>({ verb }: R, line: string): AskResult<R['verb']> {
  const parsed = parseAnswerLine(line);
  if (parsed.is === 'bad') return { is: 'bad-answer' };
  if (parsed.is === 'refused') return parsed;
  const { payload } = parsed;
  const answer: Answers[LinkRequest['verb']] =
    verb === 'status' ? parseStatus(payload) : verb === 'notify_surface' ? parseRingAnswer(payload) : null;
  if (answer === null && (verb === 'status' || verb === 'notify_surface')) return { is: 'bad-answer' };
  return { is: 'answered', answer: answer as Answers[R['verb']] };
}

/** Null: there is no token, or none that is ours to read. */
function readToken(path: string): string | null {
  try {
    return readText(realFiles, path, LONGEST_TOKEN)?.trim() ?? null;
  } catch {
    return null; // no daemon of ours has run there
  }
}

/** Some Nodes cut the path and ask whoever is there. */
const isTooLong = (socket: string): boolean => !socket.startsWith('\\\\') && Buffer.byteLength(socket) > LONGEST_SOCKET;

async function exchangeLine(
  path: string,
  line: string,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<RawAnswer> {
  if (signal?.aborted) return { is: 'silent' };
  const { promise, resolve } = Promise.withResolvers<RawAnswer>();
  const stop = (): void => resolve({ is: 'silent' });
  using _ = realClock.after(ms, stop);
  signal?.addEventListener('abort', stop, { once: true });
  const peer = connect(path);
  const cut = createLineCutter(LONGEST_ANSWER);
  let isOpen = false;
  peer.on('connect', () => {
    isOpen = true;
    peer.write(line);
  });
  peer.on('data', (chunk) => {
    const { lines, isOver } = cut(chunk);
    const [first] = lines;
    if (first !== undefined) resolve({ is: 'line', line: first });
    else if (isOver) resolve({ is: 'bad-answer' });
  });
  peer.on('error', (error) => resolve({ is: isOpen ? 'closed' : isForbidden(error) ? 'forbidden' : 'not-running' }));
  peer.on('close', () => resolve({ is: isOpen ? 'closed' : 'not-running' }));
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    peer.destroy();
  }
}

const isForbidden = (error: Error): boolean => getErrno(error) === 'EACCES' || getErrno(error) === 'EPERM';
