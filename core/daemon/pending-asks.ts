import type { RingAnswer } from '../link/index.ts';

/** Askers at a boundary that wait for an answer. */
export interface PendingAsks {
  /** Registers an asker. @param isRead as in the handlers of the control socket */
  open(isRead: Promise<boolean>): { readonly ask: number; readonly answered: Promise<RingAnswer> };
  /** Answers an asker. Only the first answer counts. */
  answer(ask: number, answer: RingAnswer): void;
  /** Gives the doorbell to the asker; resolves to whether the asker read it. */
  hand(ask: number): Promise<boolean>;
}

interface OpenAsk {
  readonly isRead: Promise<boolean>;
  readonly answer: (answer: RingAnswer) => void;
}

export function createPendingAsks(): PendingAsks {
  const open = new Map<number, OpenAsk>();
  let last = 0;
  const answer = (ask: number, answer: RingAnswer): OpenAsk | undefined => {
    const openAsk = open.get(ask);
    open.delete(ask);
    openAsk?.answer(answer);
    return openAsk;
  };
  return {
    open(isRead) {
      last += 1;
      const { promise, resolve } = Promise.withResolvers<RingAnswer>();
      open.set(last, { isRead, answer: resolve });
      return { ask: last, answered: promise };
    },
    answer: (ask, ringAnswer) => void answer(ask, ringAnswer),
    hand: async (ask) => (await answer(ask, { emitted: true, why: 'rung' })?.isRead) ?? false,
  };
}
