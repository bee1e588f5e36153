/**
 * Runs at most `size` polls at once; the rest wait in order. Slow polls come after all others and never hold the last
 * free slot, so that inboxes that hang delay only each other.
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

  /** Runs the work in the slot that was taken for it. Synchronous work frees the slot at once. */
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
      // A free slot is taken in the same turn, so that work which can begin now begins before any later request.
      if (isFree(isSlow)) {
        enter(isSlow);
        return runInPlace(isSlow, work);
      }
      const placed = new Promise<void>((resolve) => {
        (isSlow ? slow : quick).push(() => {
          enter(isSlow); // called by whoever leaves, so that no other work takes the slot in between
          resolve();
        });
      });
      return placed.then(() => runInPlace(isSlow, work));
    },
  };
}
