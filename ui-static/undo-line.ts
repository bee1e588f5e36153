import { createButton } from './element.ts';

/** Says what came of an action, for a while, and takes it back where that is possible. */
export interface UndoLine extends Disposable {
  /**
   * @param undo takes it back
   * @param commit is called once when it can no longer be taken back: after a while, with the next undoLine, or when the view is left
   */
  /** Takes back what can be taken back now. Returns false when nothing can. */
  undo(): boolean;
  show(words: string, result: 'well' | 'not', undo?: (() => unknown) | null, commit?: () => void): void;
}

/** How long a person has to take something back, and to read it. A failure stays. */
const SHOWN_MS = 10_000;

export function startUndoLine(place: HTMLElement): UndoLine {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let commit: (() => void) | null = null;
  let takeBack: (() => unknown) | null = null;
  const end = (): void => {
    clearTimeout(timer);
    const waiting = commit;
    commit = null;
    takeBack = null;
    waiting?.();
  };
  const clear = (): void => {
    end();
    place.replaceChildren();
  };
  const undoNow = (): boolean => {
    const run = takeBack;
    if (run === null) return false;
    commit = null;
    clear();
    run();
    return true;
  };
  return {
    undo: undoNow,
    show(words, result, undo = null, whenOver) {
      end();
      place.dataset.look = result;
      place.replaceChildren(words);
      if (undo !== null) {
        takeBack = undo;
        place.append(' ', createButton('Undo', undoNow, { 'aria-keyshortcuts': 'z' }));
      }
      commit = whenOver ?? null;
      if (result === 'well') timer = setTimeout(clear, SHOWN_MS);
    },
    [Symbol.dispose]: end,
  };
}
