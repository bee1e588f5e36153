import type { Clock } from '../../ports/index.ts';
import type { Shim, ShimView } from '../shim/index.ts';
import { type DetailClass, STATUS_WITHIN_MS, type SurfaceStatus } from '../surface-status.ts';
import { runWithin } from './deadline.ts';
import type { HookDesk } from './hook-desk.ts';
import { ACCEPTED_WITHIN_MS, type Plugin } from './plugin.ts';

export interface CodexShimNeeds {
  readonly shim: Shim;
  readonly desk: HookDesk;
  readonly clock: Clock;
}

/**
 * Surfaces that have a process of their own which knows their protocol: the daemon keeps it running and hands doorbells
 * to it, a line each, and speaks no app-server itself (persona daemon, contract 5). A hook of the same surface that waits
 * at its boundary is nearer to the agent, and goes before.
 */
export function createCodexShim({ shim, desk, clock }: CodexShimNeeds): Plugin {
  return {
    async notifySurface(payload) {
      if (desk.isWaiting) return await runWithin(clock, ACCEPTED_WITHIN_MS, desk.ring());
      const { ok } = await shim.ask({ call: 'notify_surface', payload }, ACCEPTED_WITHIN_MS);
      if (!ok) throw new Error('the shim did not take it');
    },
    async resumeSurface() {
      shim.resume();
      if (shim.view.state === 'running') await shim.ask({ call: 'resume_surface' }, ACCEPTED_WITHIN_MS);
    },
    async status() {
      if (shim.view.state !== 'running') return toDownStatus(shim.view);
      try {
        const { ok, status } = await shim.ask({ call: 'status' }, STATUS_WITHIN_MS);
        return status ?? { alive: ok, accepting: ok, detail_class: ok ? 'ready' : 'no_answer' };
      } catch {
        return toDownStatus(shim.view); // it ended meanwhile, or hangs
      }
    },
  };
}

const WHY: Readonly<Record<ShimView['state'], DetailClass>> = {
  none: 'no_shim',
  running: 'no_answer',
  backoff: 'shim_backoff',
  failed: 'shim_failed',
};

function toDownStatus({ state }: ShimView): SurfaceStatus {
  return { alive: false, accepting: false, detail_class: WHY[state] };
}
