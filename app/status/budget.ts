/** The kind of client: without a token, with a token, or over the owner-only socket. */
export type ClientClass = 'anonymous' | 'token' | 'socket';

/**
 * Places for requests that stay open for long. Each class of client has the same number, and no class can use up the places of
 * another.
 */
export interface ClientBudget {
  /** The number of taken places, in all classes. */
  readonly used: number;
  /** The number of places for one class. */
  readonly most: number;
  /** Takes a place until it is disposed. Returns null when all places of this class are taken. */
  take(client: ClientClass): Disposable | null;
}

export function createBudget(most: number): ClientBudget {
  const used: Record<ClientClass, number> = { anonymous: 0, token: 0, socket: 0 };
  return {
    get used() {
      return used.anonymous + used.token + used.socket;
    },
    most,
    take(client) {
      if (used[client] >= most) return null;
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
  return `${most} ${subject} ${WHOSE[client]} are open`;
}
