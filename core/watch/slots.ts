/** At most `size` runs at once; the rest wait in order, those said to be slow behind all others. */
export interface Slots {
  run<T>(slow: boolean, work: () => Promise<T>): Promise<T>;
}

export function createSlots(size: number): Slots {
  let free = size;
  const quick: (() => void)[] = [];
  const slow: (() => void)[] = [];
  return {
    async run(isSlow, work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => (isSlow ? slow : quick).push(resolve));
      try {
        return await work();
      } finally {
        const next = quick.shift() ?? slow.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
