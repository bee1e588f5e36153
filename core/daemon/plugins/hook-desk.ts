/** Where a hook that asks at a boundary waits for its answer. While it waits, it is the shim of its surface (contract 4). */
export interface HookDesk {
  /**
   * Registers a waiting hook. `hand` gives the hook its doorbell and resolves to whether the hook took it; it is called at most
   * once. Dispose it when the hook has its answer, or went away.
   */
  sit(hand: () => Promise<boolean>): Disposable;
  readonly isWaiting: boolean;
  /** @throws Error if no hook waits, or the hook did not take the doorbell */
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
