/** Who asks: somebody without a token, with one, or over the owner-only socket. */
export type ClientClass = 'anonymous' | 'token' | 'socket';

/** Places for what stays open for long, as many for each class of client: none takes the place of another. */
export interface ClientBudget {
  /** How many places are taken, of all classes. */
  readonly used: number;
  /** Places for one class. */
  readonly most: number;
  /** Takes a place until it is disposed of; null: all of this class are taken. */
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

/** `200 streams without the token are open`: what a refusal says. */
export function formatBudgetFull(subject: string, { most }: ClientBudget, client: ClientClass): string {
  return `${most} ${subject} ${WHOSE[client]} are open`;
}
