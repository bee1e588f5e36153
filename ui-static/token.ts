/** The stored secrets, in the order in which they are tried: the key of this browser, and a token that a person entered. */
const KEYS = ['hivebar-device', 'hivebar-token'] as const;
const [DEVICE, TOKEN] = KEYS;
/** The server has refused the key of this browser. */
let isLoggedOut = false;

/** The server requires its token, and got none or a wrong one. */
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
 * Sends a request to our server, with the key of this browser or the token that the person entered. Both are stored for this origin,
 * port included, and not in a cookie: a cookie would go to every server of this machine, also to those of other users.
 * @throws TokenNeededError at 401; RefusalError at any other refusal
 */
export async function ask(path: string, signal: AbortSignal, init: RequestInit = {}): Promise<Response> {
  const key = KEYS.find((each) => browserStorage.getItem(each) !== null);
  const secret = key === undefined ? null : browserStorage.getItem(key);
  const authorization: Record<string, string> = secret === null ? {} : { Authorization: `Bearer ${secret}` };
  const answer = await fetch(path, { ...init, signal, headers: { ...init.headers, ...authorization } });
  if (answer.status === 401) {
    if (key === undefined) throw new TokenNeededError();
    if (browserStorage.getItem(key) === secret) browserStorage.removeItem(key); // revoked, of an earlier start, or mistyped
    isLoggedOut ||= key === DEVICE;
    if (hasToken()) return ask(path, signal, init);
    if (isLoggedOut) document.dispatchEvent(new Event('logged-out'));
    throw new TokenNeededError();
  }
  if (!answer.ok) throw new RefusalError(answer.status, await readReason(answer));
  return answer;
}

/**
 * Calls `POST /api/v1/actions/NAME` and returns its result.
 * @throws TokenNeededError, RefusalError
 */
export async function runAction(name: string, params: object, withinMs = 20_000): Promise<unknown> {
  const body = JSON.stringify(params);
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  const answer = await ask(`/api/v1/actions/${name}`, AbortSignal.timeout(withinMs), init);
  return ((await answer.json()) as { result: unknown }).result;
}

/**
 * Exchanges the code of a one-time link for a key of this browser, and stores it. A browser that has a good key keeps it.
 * @throws RefusalError when the code is not valid any more
 */
export async function redeem(code: string): Promise<void> {
  const body = JSON.stringify({ code });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  const answer = await ask('/api/v1/token', AbortSignal.timeout(20_000), init).catch((error: unknown) => {
    if (!(error instanceof TokenNeededError)) throw error;
    return ask('/api/v1/token', AbortSignal.timeout(20_000), init); // without the key that was refused
  });
  isLoggedOut = false;
  browserStorage.setItem(DEVICE, ((await answer.json()) as { token: string }).token);
}

export function saveToken(token: string): void {
  browserStorage.setItem(TOKEN, token.replaceAll(/[^\x21-\x7e]/g, '')); // a character that a header cannot contain is in no token
}

export function hasToken(): boolean {
  return KEYS.some((key) => browserStorage.getItem(key) !== null);
}

async function readReason(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error: { message: string; next: string } };
    return `${error.message}; ${error.next}`;
  } catch {
    return `status ${answer.status}`; // not from our server: something in between answered instead
  }
}

/** What the page stores in this browser. If the person blocks storage, it lasts as long as the page. */
export const browserStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = openBrowserStorage();

function openBrowserStorage(): typeof browserStorage {
  try {
    return localStorage;
  } catch {
    // the person blocks storage for sites
    const held = new Map<string, string>();
    return {
      getItem: (key) => held.get(key) ?? null,
      setItem: (key, value) => void held.set(key, value),
      removeItem: (key) => void held.delete(key),
    };
  }
}

/** Creates a button that asks the person for the token, in the page's usual way. */
export function createTokenButton(needToken: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = hasToken() ? 'Enter another token' : 'Enter the token';
  button.addEventListener('click', needToken);
  return button;
}
