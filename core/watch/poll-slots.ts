/**
 * At most `size` runs at once; the rest wait in order. Those said to be slow come behind all others and never hold the
 * last free place, so that inboxes that hang delay only each other.
 */
export interface PollSlots {
  run<T>(slow: boolean, work: () => T | Promise<T>): T | Promise<T>;
}

export function createPollSlots(size: number): PollSlots {
  const slowSize = Math.max(1, size - 1);
  let running = 0;
  let slowRunning = 0;
  const quick: (() => void)[] = [];
  const slow: (() => void)[] = [];

  const isFree = (isSlow: boolean): boolean => running < size && (!isSlow || slowRunning < slowSize);
  const enter = (isSlow: boolean): void => {
    running += 1;
    if (isSlow) slowRunning += 1;
  };
  const leave = (isSlow: boolean): void => {
    running -= 1;
    if (isSlow) slowRunning -= 1;
    const next = quick.shift() ?? (isFree(true) ? slow.shift() : undefined);
    next?.();
  };

  /** Runs it in the place that was taken for it; what is done at once leaves at once. */
  function runInPlace<T>(isSlow: boolean, work: () => T | Promise<T>): T | Promise<T> {
    let result: T | Promise<T>;
    try {
      result = work();
    } catch (error) {
      leave(isSlow);
      throw error;
    }
    if (result instanceof Promise) return result.finally(() => leave(isSlow));
    leave(isSlow);
    return result;
  }

  return {
    run(isSlow, work) {
      // A free place is taken in the same turn: what can begin begins before whatever is asked for after it.
      if (isFree(isSlow)) {
        enter(isSlow);
        return runInPlace(isSlow, work);
      }
      const placed = new Promise<void>((resolve) => {
        (isSlow ? slow : quick).push(() => {
          enter(isSlow); // by who leaves, so that nobody slips in between
          resolve();
        });
      });
      return placed.then(() => runInPlace(isSlow, work));
    },
  };
}
