/** Where a hook that asks at a boundary waits for its answer: while it does, it is the shim of its surface (contract 4). */
export interface HookDesk {
  /**
   * A hook waits. `hand` gives it its doorbell and says whether it was taken; it is called at most once. Disposing: it
   * has its answer, or went away.
   */
  sit(hand: () => Promise<boolean>): Disposable;
  readonly isWaiting: boolean;
  /** @throws Error when no hook waits, and when it did not take it */
  ring(): Promise<void>;
}

export function createHookDesk(): HookDesk {
  const seats: (() => Promise<boolean>)[] = [];
  return {
    sit(hand) {
      seats.push(hand);
      return {
        [Symbol.dispose]() {
          const at = seats.indexOf(hand);
          if (at >= 0) seats.splice(at, 1);
        },
      };
    },
    get isWaiting() {
      return seats.length > 0;
    },
    async ring() {
      const hand = seats.shift();
      if (hand === undefined) throw new Error('no hook waits');
      if (!(await hand())) throw new Error('the hook went away');
    },
  };
}
