import type { Board, Fact } from '../../core/board/index.ts';

/** Collects the facts that arrive before the surfaces can listen, because connecting to the desktop takes a while. */
export interface StartupBuffer extends Disposable {
  /** Returns all collected facts and stops collecting. The caller must start listening in the same turn. */
  take(): readonly Fact[];
}

export function createStartupBuffer(board: Board): StartupBuffer {
  const facts: Fact[] = [];
  const listening = board.facts((fact) => {
    if (fact.is === 'delivered') facts.push(fact);
  });
  return {
    take() {
      listening[Symbol.dispose]();
      return facts.splice(0);
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
