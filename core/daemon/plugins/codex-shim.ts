import type { Clock } from '../../ports/index.ts';
import type { Shim, ShimView } from '../shim/index.ts';
import type { HookDesk } from './hook-desk.ts';
import { ACCEPTED_WITHIN_MS, type DetailClass, type Plugin, STATUS_WITHIN_MS, type SurfaceStatus } from './plugin.ts';
import { within } from './within.ts';

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
export function codexShim({ shim, desk, clock }: CodexShimNeeds): Plugin {
  return {
    async notifySurface(payload) {
      if (desk.isWaiting) return await within(clock, ACCEPTED_WITHIN_MS, desk.ring());
      const { ok } = await shim.ask({ call: 'notify_surface', payload }, ACCEPTED_WITHIN_MS);
      if (!ok) throw new Error('the shim did not take it');
    },
    async resumeSurface() {
      shim.resume();
      if (shim.view.state === 'running') await shim.ask({ call: 'resume_surface' }, ACCEPTED_WITHIN_MS);
    },
    async status() {
      if (shim.view.state !== 'running') return gone(shim.view);
      try {
        const { ok, status } = await shim.ask({ call: 'status' }, STATUS_WITHIN_MS);
        return status ?? { alive: ok, accepting: ok, detail_class: ok ? 'ready' : 'no_answer' };
      } catch {
        return gone(shim.view); // it ended meanwhile, or hangs
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

function gone({ state }: ShimView): SurfaceStatus {
  return { alive: false, accepting: false, detail_class: WHY[state] };
}
