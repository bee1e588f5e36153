import type { Doorbell } from '../../link/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { SurfaceStatus } from '../status.ts';

/** A surface as the daemon sees it: only these three calls (persona daemon, contract 5). */
export interface Plugin {
  /**
   * Resolves when the surface has taken the doorbell into its own queue. That is no acknowledgement; only a drain is.
   * @throws Error if the surface did not take it within 2 s
   */
  readonly notifySurface: (payload: Doorbell) => Promise<void>;
  /** Binds again after the surface was restarted; never rings. */
  readonly resumeSurface: () => Promise<void>;
  /** Always answers within 1 s. */
  readonly status: () => Promise<SurfaceStatus>;
}

/** A doorbell that is not taken within this time counts as not emitted. */
export const ACCEPTED_WITHIN_MS = 2000;

/** Where a hook that asks at a boundary waits for its answer. While it waits, it is the shim of its surface (contract 4). */
export interface HookDesk {
  /**
   * Registers a waiting hook. `hand` gives the hook its doorbell and resolves to whether the hook took it; it is called at most
   * once. Dispose it when the hook has its answer, or went away.
   */
  sit(hand: () => Promise<boolean>): Disposable;
  readonly isWaiting: boolean;
  /** @throws Error if no hook is waiting, or the hook did not take the doorbell */
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
      if (hand === undefined) throw new Error('no hook is waiting');
      if (!(await hand())) throw new Error('the hook went away');
    },
  };
}

/**
 * Waits for the work at most `ms` milliseconds. The work itself is not stopped. @throws Error `too late` when the time is over
 */
export async function runWithin<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  using stack = new DisposableStack();
  const late = new Promise<never>((_resolve, reject) => {
    stack.use(clock.after(ms, () => reject(new Error('too late'))));
  });
  return await Promise.race([work, late]);
}

/** A way to reach an agent while no hook asks: an address on this machine where the agent's runner listens. */
export interface WakePath {
  /** Whether there is an address now. */
  isThere(): boolean;
  /** @throws Error if there is no address, or the runner did not take the ring */
  ring(): Promise<void>;
}
