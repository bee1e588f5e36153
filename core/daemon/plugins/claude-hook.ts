import type { Clock } from '../../ports/index.ts';
import { runWithin } from './deadline.ts';
import type { HookDesk } from './hook-desk.ts';
import { ACCEPTED_WITHIN_MS, type Plugin } from './plugin.ts';
import type { WakePath } from './wake-path.ts';

export interface ClaudeHookNeeds {
  readonly desk: HookDesk;
  /** The way to an agent while no hook of it runs; null: there is none, so it waits for its next boundary. */
  readonly wake: WakePath | null;
  readonly clock: Clock;
}

/**
 * Surfaces that run a command at their boundaries: the hook process that waits for its answer is the shim end (persona
 * daemon, contract 4). Between two hooks nobody is there who could refuse, so it counts as alive.
 */
export function createClaudeHook({ desk, wake, clock }: ClaudeHookNeeds): Plugin {
  return {
    notifySurface: () =>
      runWithin(clock, ACCEPTED_WITHIN_MS, desk.isWaiting || wake === null ? desk.ring() : wake.ring()),
    resumeSurface: async () => {}, // the next hook of whatever session is the binding
    status: async () => {
      const accepting = desk.isWaiting || (wake?.isThere() ?? false);
      return {
        alive: true,
        accepting,
        detail_class: desk.isWaiting ? 'waiting_hook' : accepting ? 'ready' : 'between_hooks',
      };
    },
  };
}
