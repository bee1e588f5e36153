import type { Clock } from '../../ports/index.ts';
import type { Shim, ShimView } from '../shim.ts';
import { type DetailClass, STATUS_WITHIN_MS, type SurfaceStatus } from '../status.ts';
import { ACCEPTED_WITHIN_MS, type HookDesk, type Plugin, runWithin } from './plugin.ts';

export interface CodexShimNeeds {
  readonly shim: Shim;
  readonly desk: HookDesk;
  readonly clock: Clock;
}

/**
 * Creates the plugin for surfaces with a shim, a process that knows their protocol. The daemon keeps the shim running and gives
 * it doorbells, one per line; it speaks no app-server itself (persona daemon, contract 5). A hook of the same surface that waits
 * at a boundary is closer to the agent and takes precedence.
 */
export function createCodexShim({ shim, desk, clock }: CodexShimNeeds): Plugin {
  return {
    async notifySurface(payload) {
      if (desk.isWaiting) return await runWithin(clock, ACCEPTED_WITHIN_MS, desk.ring());
      const { ok } = await shim.ask({ call: 'notify_surface', payload }, ACCEPTED_WITHIN_MS);
      if (!ok) throw new Error('the shim did not accept it');
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
        return toDownStatus(shim.view); // the shim ended meanwhile, or hangs
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
