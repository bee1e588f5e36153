import type { Fact } from './fact.ts';
import type { Snapshot } from './snapshot.ts';

/** The in-memory picture behind every surface. */
export interface Board {
  /** Folds the fact in, then tells every listener, in order of subscription. */
  put(fact: Fact): void;
  snapshot(): Snapshot;
  /** Every fact, after it is in the snapshot. A listener that throws is logged and stays. */
  facts(listener: (fact: Fact, board: Board) => void): Disposable;
  /** Called once after any number of facts of one turn that changed `rev`. */
  changes(listener: (snapshot: Snapshot) => void): Disposable;
}
