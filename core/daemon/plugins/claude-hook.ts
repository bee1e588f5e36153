import type { Clock } from '../../ports/index.ts';
import { ACCEPTED_WITHIN_MS, type HookDesk, type Plugin, runWithin, type WakePath } from './plugin.ts';

export interface ClaudeHookNeeds {
  readonly desk: HookDesk;
  /** The way to an agent while no hook of it runs; null: there is none, so the doorbell waits for the next turn boundary. */
  readonly wake: WakePath | null;
  readonly clock: Clock;
}

/**
 * Creates the plugin for surfaces that run a command at their boundaries. The hook process that waits for its answer takes the
 * place of a shim (persona daemon, contract 4). Between two hooks nothing can refuse, so the surface counts as alive.
 */
export function createClaudeHook({ desk, wake, clock }: ClaudeHookNeeds): Plugin {
  return {
    notifySurface: () =>
      runWithin(clock, ACCEPTED_WITHIN_MS, desk.isWaiting || wake === null ? desk.ring() : wake.ring()),
    resumeSurface: async () => {}, // the next hook of any session is the binding
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
