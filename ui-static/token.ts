const KEY = 'hivebar-token';
const store = storeOf();

/** The server asks for its token, and was given none or another one. */
export class TokenNeeded extends Error {}

/**
 * Asks our server, with the token where the person gave one. It is kept for this origin, port included, and not in a
 * cookie: that would go to every server of this machine, other users' too.
 * @throws TokenNeeded at 401; Error at any other refusal
 */
export async function ask(path: string, signal: AbortSignal): Promise<Response> {
  const token = store.getItem(KEY);
  const answer = await fetch(path, { signal, headers: token === null ? {} : { Authorization: `Bearer ${token}` } });
  if (answer.status === 401) {
    if (store.getItem(KEY) === token) store.removeItem(KEY); // of an earlier start, or mistyped; a new one may be there
    throw new TokenNeeded();
  }
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer;
}

export function keepToken(given: string): void {
  store.setItem(KEY, given.replaceAll(/[^\x21-\x7e]/g, '')); // what a header can not hold is in no token
}

function storeOf(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return localStorage;
  } catch {
    // the person keeps sites from storing anything: then the token lasts as long as the page
    const kept = new Map<string, string>();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
  }
}
