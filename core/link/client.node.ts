import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { realClock, realFiles } from '../ports/index.ts';
import { findOwnHome, getErrno, readText, requireCurrentFolder } from '../state/index.ts';
import {
  computeDaemonPlaces,
  type DaemonName,
  type DaemonPlaces,
  type DaemonSurroundings,
  LONGEST_SOCKET,
  toMachineId,
} from './config.ts';
import { createLineCutter } from './lines.ts';
import {
  type Answers,
  formatRequestLine,
  type LinkRefusal,
  type LinkRequest,
  parseAnswerLine,
  parseRingAnswer,
  parseStatus,
} from './protocol.ts';

export type AskResult<V extends LinkRequest['verb']> =
  | { readonly is: 'answered'; readonly answer: Answers[V] }
  /** The token file or the socket is missing, or no process listens. Also: the process died during the request. */
  | { readonly is: 'not-running' }
  /** The daemon refused. Null: it closed the connection without an answer, as it does when the token is wrong. */
  | { readonly is: 'refused'; readonly error: LinkRefusal | null; readonly message: string }
  | { readonly is: 'bad-answer' }
  /** No answer came before the timeout. */
  | { readonly is: 'silent' };

interface AskOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

type RawAnswer =
  | { readonly is: 'line'; readonly line: string }
  | { readonly is: 'closed' | 'forbidden' | 'not-running' | 'silent' | 'bad-answer' };

const HUNG_UP = 'it closed the connection without an answer';

/** An answer longer than this is bad. A status with all its transitions needs about a twentieth of it. */
const LONGEST_ANSWER = 1024 * 1024;

const LONGEST_TOKEN = 4096;

/** Sends one request to a daemon over its own connection (persona daemon, contract 4). Never throws. */
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
      // A process that dies also hangs up. A daemon that refuses still listens, so we check.
      if (!(await isListening(places, timeoutMs))) return { is: 'not-running' };
      return { is: 'refused', error: null, message: HUNG_UP };
    case 'forbidden':
      return { is: 'refused', error: null, message: HUNG_UP };
    default:
      return { is: raw.is };
  }
}

/** Whether a process listens at the socket of a daemon. Sends nothing. Never throws. */
export async function isListening(
  { socket, token }: Pick<DaemonPlaces, 'socket' | 'token'>,
  timeoutMs: number,
): Promise<boolean> {
  // Without a token no daemon runs, and this check is cheaper than a connection.
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

/** Null: there is no token, or we may not read it. */
function readToken(path: string): string | null {
  try {
    return readText(realFiles, path, LONGEST_TOKEN)?.trim() ?? null;
  } catch {
    return null; // no daemon of ours has run with this name
  }
}

/** Some versions of Node cut a path that is too long, and would connect to the wrong socket. */
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

type LinkEnv = Readonly<Record<string, string | undefined>>;

/**
 * Collects what the paths of this process depend on. On Linux, the runtime directory of the session replaces a missing
 * XDG_RUNTIME_DIR: a hook may start without the variable, while the daemon's unit sets it, and both must find the same paths.
 */
export function readOwnSurroundings(env: LinkEnv = process.env): DaemonSurroundings {
  const platform = process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux';
  const uid = process.getuid?.() ?? null;
  const homeSetting = env.HIVEBAR_HOME;
  const cwd = homeSetting && !isAbsolute(homeSetting) ? requireCurrentFolder(`HIVEBAR_HOME is ${homeSetting}`) : '/';
  return { platform, env: addRuntimeDir(env, platform, uid), home: findOwnHome(), cwd, uid, temp: tmpdir() };
}

export function findOwnDaemonPlaces(daemon: DaemonName, env: LinkEnv = process.env): DaemonPlaces {
  return computeDaemonPlaces(daemon, readOwnSurroundings(env));
}

function addRuntimeDir(env: LinkEnv, platform: DaemonSurroundings['platform'], uid: number | null): LinkEnv {
  if (platform !== 'linux' || uid === null || env.HIVEBAR_HOME || env.XDG_RUNTIME_DIR) return env;
  const session = `/run/user/${uid}`;
  return statSync(session, { throwIfNoEntry: false })?.uid === uid ? { ...env, XDG_RUNTIME_DIR: session } : env;
}

const PLACES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/**
 * Returns the id of this machine in the form of `toMachineId`. macOS and Windows have no file for it, so the host name is used
 * there.
 */
export function readMachineId(): string {
  const id = PLACES.map(readTextOrNull).find((text) => text !== null && text.trim() !== '') ?? null;
  return toMachineId(id, hostname());
}

function readTextOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not on this system
  }
}
