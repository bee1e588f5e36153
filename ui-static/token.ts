import { browserStorage } from './browser-storage.ts';

const KEY = 'hivebar-token';

/** The server asks for its token, and was given none or another one. */
export class TokenNeededError extends Error {}

/** The server refused, and said why and what to do. */
export class RefusalError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Asks our server, with the token where the person gave one. It is kept for this origin, port included, and not in a
 * cookie: that would go to every server of this machine, other users' too.
 * @throws TokenNeeded at 401; Refused at any other refusal
 */
export async function ask(path: string, signal: AbortSignal, init: RequestInit = {}): Promise<Response> {
  const token = browserStorage.getItem(KEY);
  const authorization: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fetch(path, { ...init, signal, headers: { ...init.headers, ...authorization } });
  if (answer.status === 401) {
    if (browserStorage.getItem(KEY) === token) browserStorage.removeItem(KEY); // of an earlier start, or mistyped; a new one may be there
    throw new TokenNeededError();
  }
  if (!answer.ok) throw new RefusalError(answer.status, await readReason(answer));
  return answer;
}

/**
 * `POST /api/v1/actions/NAME`; its result.
 * @throws TokenNeeded, Refused
 */
export async function runAction(name: string, params: object): Promise<unknown> {
  const body = JSON.stringify(params);
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  const answer = await ask(`/api/v1/actions/${name}`, AbortSignal.timeout(20_000), init);
  return ((await answer.json()) as { result: unknown }).result;
}

/**
 * Hands in the code of a one-time link and keeps the token it is good for.
 * @throws Refused when it is good for nothing any more
 */
export async function redeem(code: string): Promise<void> {
  const answer = await fetch('/api/v1/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!answer.ok) throw new RefusalError(answer.status, await readReason(answer));
  saveToken(((await answer.json()) as { token: string }).token);
}

export function saveToken(token: string): void {
  browserStorage.setItem(KEY, token.replaceAll(/[^\x21-\x7e]/g, '')); // what a header cannot hold is in no token
}

export function hasToken(): boolean {
  return browserStorage.getItem(KEY) !== null;
}

async function readReason(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error: { message: string; next: string } };
    return `${error.message}; ${error.next}`;
  } catch {
    return `status ${answer.status}`; // not by our server: something on the way answered in its place
  }
}
