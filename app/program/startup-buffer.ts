import type { Board, Fact } from '../../core/board/index.ts';

/** What was told while nobody who shows it could listen yet: the desktop takes a while to be reached. */
export interface StartupBuffer extends Disposable {
  /** All of it, and nothing more from then on: who takes it listens itself in the same turn. */
  take(): readonly Fact[];
}

export function createStartupBuffer(board: Board): StartupBuffer {
  const facts: Fact[] = [];
  const listening = board.facts((fact) => {
    if (fact.is === 'told') facts.push(fact);
  });
  return {
    take() {
      listening[Symbol.dispose]();
      return facts.splice(0);
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
