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

  function admit(): void {
    while (running < size) {
      const mayBeSlow = slowRunning < slowSize;
      const next = quick.shift() ?? (mayBeSlow ? slow.shift() : undefined);
      if (next === undefined) return;
      next();
    }
  }

  return {
    async run(isSlow, work) {
      await new Promise<void>((resolve) => {
        (isSlow ? slow : quick).push(() => {
          running += 1;
          if (isSlow) slowRunning += 1;
          resolve();
        });
        admit();
      });
      try {
        return await work();
      } finally {
        running -= 1;
        if (isSlow) slowRunning -= 1;
        admit();
      }
    },
  };
}
