import { type Log, silentLog } from '../ports/index.ts';
import type { Fact } from './fact.ts';
import { type BoardState, EMPTY_BOARD, fold } from './fold.ts';
import type { Snapshot } from './snapshot.ts';
import { isSameBoard, toSnapshot } from './to-snapshot.ts';

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

/**
 * Creates the board of one process. `put` calls the fact listeners at once and in order. Facts are folded in together,
 * when somebody asks for a snapshot or at the end of the turn. A fact that a listener puts waits for its turn, so every
 * listener gets all facts in the same order. `changes` listeners are called once for all facts of a turn, and only when
 * the board changed. Two calls of `snapshot` without a fact between them return the same object.
 *
 * `later` schedules the end of the turn. The default is a microtask, which is too soon where 1,000 polls return one by
 * one.
 */
export function createBoard(log: Log = silentLog, later: (run: () => void) => void = queueMicrotask): Board {
  let state: BoardState = EMPTY_BOARD;
  /** Facts that were put but are not yet in `state`. */
  let news: Fact[] = [];
  let rev = 0;
  let snapshot: Snapshot | null = null;
  /** The state that `rev` counts. `announced` is the `rev` that the `changes` listeners got last. */
  let counted = EMPTY_BOARD;
  let announced = 0;
  let due = false;
  const waiting: Fact[] = [];
  let telling = false;
  const onFact = new Set<(fact: Fact, board: Board) => void>();
  const onChange = new Set<(snapshot: Snapshot) => void>();

  const tell = <T extends unknown[]>(listeners: Set<(...args: T) => void>, ...args: T): void => {
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue; // disposed by an earlier listener
      try {
        listener(...args);
      } catch (error) {
        log.error('a listener of the board failed', { error }); // one surface must not take the others down
      }
    }
  };
  const addListener = <T extends unknown[]>(
    listeners: Set<(...args: T) => void>,
    listener: (...args: T) => void,
  ): Disposable => {
    const wrapper = (...args: T): void => listener(...args); // the same function may listen twice
    listeners.add(wrapper);
    return { [Symbol.dispose]: () => void listeners.delete(wrapper) };
  };
  const foldPending = (): void => {
    if (news.length > 0) state = fold(state, news);
    news = [];
    if (!isSameBoard(counted, state)) rev += 1;
    counted = state;
  };
  const finishTurn = (): void => {
    due = false;
    foldPending();
    if (rev === announced) return; // a quiet tick ends here, without a new snapshot
    announced = rev;
    if (onChange.size > 0) tell(onChange, board.snapshot());
  };

  const board: Board = {
    put: (fact) => {
      waiting.push(fact);
      if (telling) return;
      telling = true;
      try {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          news.push(next);
          snapshot = null;
          tell(onFact, next, board);
        }
      } finally {
        telling = false;
      }
      if (due) return;
      due = true;
      later(finishTurn);
    },
    snapshot: () => {
      if (snapshot !== null) return snapshot;
      foldPending();
      snapshot = toSnapshot(state, state.now, rev);
      return snapshot;
    },
    facts: (listener) => addListener(onFact, listener),
    changes: (listener) => addListener(onChange, listener),
  };
  return board;
}
