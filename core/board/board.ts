import type { Fact } from './fact.ts';
import type { Snapshot } from './snapshot.ts';

/** The in-memory model behind every surface. */
export interface Board {
  /** Adds the fact to the board, then calls every listener in order of subscription. */
  put(fact: Fact): void;
  snapshot(): Snapshot;
  /** Calls `listener` with every fact, after it is in the snapshot. A listener that throws is logged and stays subscribed. */
  facts(listener: (fact: Fact, board: Board) => void): Disposable;
  /** Calls `listener` once for all facts of a turn, if they changed `rev`. */
  changes(listener: (snapshot: Snapshot) => void): Disposable;
}
