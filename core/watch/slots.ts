/**
 * At most `size` runs at once; the rest wait in order. Those said to be slow come behind all others and never hold the
 * last free place, so that inboxes that hang delay only each other.
 */
export interface Slots {
  run<T>(slow: boolean, work: () => Promise<T>): Promise<T>;
}

export function createSlots(size: number): Slots {
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

  return {
    async run(isSlow, work) {
      // A free place is taken in the same turn: what can begin begins before whatever is asked for after it.
      if (isFree(isSlow)) enter(isSlow);
      else {
        await new Promise<void>((resolve) => {
          (isSlow ? slow : quick).push(() => {
            enter(isSlow); // by who leaves, so that nobody slips in between
            resolve();
          });
        });
      }
      try {
        return await work();
      } finally {
        leave(isSlow);
      }
    },
  };
}
