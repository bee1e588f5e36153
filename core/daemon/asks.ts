import type { RingAnswer } from '../link/index.ts';

/** Who asks at a boundary and waits for an answer. */
export interface Asks {
  /** A new one. @param isRead as the handlers of the control socket have it */
  open(isRead: Promise<boolean>): { readonly ask: number; readonly answered: Promise<RingAnswer> };
  /** The first answer counts. */
  answer(ask: number, answer: RingAnswer): void;
  /** Gives the doorbell to the one who asks; resolves with whether it was read. */
  hand(ask: number): Promise<boolean>;
}

interface Open {
  readonly isRead: Promise<boolean>;
  readonly answer: (answer: RingAnswer) => void;
}

export function createAsks(): Asks {
  const open = new Map<number, Open>();
  let last = 0;
  const answer = (ask: number, answer: RingAnswer): Open | undefined => {
    const one = open.get(ask);
    open.delete(ask);
    one?.answer(answer);
    return one;
  };
  return {
    open(isRead) {
      last += 1;
      const { promise, resolve } = Promise.withResolvers<RingAnswer>();
      open.set(last, { isRead, answer: resolve });
      return { ask: last, answered: promise };
    },
    answer: (ask, what) => void answer(ask, what),
    hand: async (ask) => (await answer(ask, { emitted: true, why: 'rung' })?.isRead) ?? false,
  };
}
