import type { DaemonStatus } from '../../link/index.ts';
import type { AgentState, Instant } from '../../model/index.ts';

/** Something waits at the upstream, and nothing is fetched (persona daemon, contract 6). */
export const STALLED_AFTER_MS = 600_000;
/** A heartbeat that is older is none: the upstream asks for one much more often. */
const HEARTBEAT_LATE_S = 120;

/** Since when something waits without a pause, as far as it was seen: `never`, nothing was seen yet. */
export type Waits = { readonly is: 'never' | 'empty' } | { readonly is: 'since'; readonly at: Instant };

/**
 * A drain may be long ago because nothing came: what arrives then is not stalled at once. Of what waited before the first
 * look only the age of the drain is known, and it counts alone.
 */
export function updateWaits(before: Waits, { pending }: Pick<DaemonStatus, 'pending'>, at: Instant): Waits {
  if (!pending.fresh) return before;
  if (pending.count === 0) return { is: 'empty' };
  if (before.is === 'since') return before;
  return { is: 'since', at: before.is === 'never' ? Number.NEGATIVE_INFINITY : at };
}

/** What a daemon says of itself, as the board shows a reader. That it answers at all is reach, and none of this. */
export function toAgentState(
  status: DaemonStatus,
  waits: Waits,
  at: Instant,
  stalledAfterMs = STALLED_AFTER_MS,
): AgentState {
  const { fsm, taxonomy, heartbeat_age_s: heartbeat, drain_age_s: drain, pending, degraded } = status;
  const isConnected = fsm === 'CONNECTED' || fsm === 'EMITTING';
  if (!isConnected && taxonomy === 'failed') return { is: 'unknown', why: 'daemon-failed' };
  if (fsm === 'DISCONNECTED') return { is: 'unknown', why: 'upstream-unreachable' };
  if (fsm === 'RECONCILING') return { is: 'unknown', why: 'reconciling' };
  if (heartbeat !== null && heartbeat > HEARTBEAT_LATE_S) return { is: 'unknown', why: 'heartbeat-late' };
  const waitedMs = waits.is === 'since' ? Math.min(at - waits.at, drain * 1000) : 0;
  if (pending.fresh && pending.count > 0 && waitedMs >= stalledAfterMs) return { is: 'stalled', why: 'drain-stalled' };
  if (taxonomy === 'failed') return { is: 'unknown', why: 'daemon-failed' };
  if (degraded !== null) return { is: 'unknown', why: 'surface-unavailable' };
  return { is: 'live' };
}
