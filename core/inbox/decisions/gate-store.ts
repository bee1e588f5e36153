import { DECISION, DECISION_WAITING, type Gates } from '../gates/index.ts';
import type { DecisionGates } from './decisions.ts';

/** Who asked is told by the decision itself, and it may go on in another session than the one it asked in. */
const BY_DECISION = { by: 'decision', session: null, terminal: null, tells: false } as const;

/** The gates that decisions move, in the store of all gates. */
export function decisionGates(gates: Pick<Gates, 'mark' | 'clear'>): DecisionGates {
  return {
    open: (persona) => void gates.clear(persona, ({ id }) => id === DECISION),
    close: (persona) => void gates.mark(persona, DECISION, BY_DECISION),
    waiting(persona, isWaiting) {
      if (isWaiting) gates.mark(persona, DECISION_WAITING, BY_DECISION);
      else gates.clear(persona, ({ id }) => id === DECISION_WAITING);
    },
  };
}
