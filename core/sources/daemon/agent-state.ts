import type { DaemonStatus } from '../../link/index.ts';
import type { AgentState, Instant } from '../../model/index.ts';

/** What a source may report about a persona daemon (persona daemon, contract 5). */
type DaemonReason =
  /** Somebody ended its process on purpose, and nobody restarts it. */
  | 'paused'
  /** Its stream to the upstream is broken, so its last counts may be old. */
  | 'upstream-unreachable'
  /** It is asking the upstream what is pending. */
  | 'reconciling'
  | 'heartbeat-late'
  /** It lives and rings, but nothing is fetched. */
  | 'drain-stalled'
  | 'surface-unavailable'
  /** It gave up, because its configuration, its token or its shim is unusable. */
  | 'daemon-failed';

/** A daemon is stalled when signals wait at the upstream for this long and nobody fetches them (persona daemon, contract 6). */
export const STALLED_AFTER_MS = 600_000;
/** An older heartbeat counts as missing: the upstream asks for one much more often. */
const HEARTBEAT_LATE_S = 120;

type DaemonState = AgentState & { readonly why?: DaemonReason };

/** Since when signals wait without a pause, as far as polls saw it. `never`: there was no poll yet. */
export type Waits = { readonly is: 'never' | 'empty' } | { readonly is: 'since'; readonly at: Instant };

/**
 * The last drain may be long ago only because nothing came; signals that arrive then are not stalled at once.
 * For signals that waited before the first poll, only the age of the drain is known, so that age alone counts.
 */
export function updateWaits(before: Waits, { pending }: Pick<DaemonStatus, 'pending'>, at: Instant): Waits {
  if (!pending.fresh) return before;
  if (pending.count === 0) return { is: 'empty' };
  if (before.is === 'since') return before;
  return { is: 'since', at: before.is === 'never' ? Number.NEGATIVE_INFINITY : at };
}

/** Turns a daemon's status into the agent state. Whether the daemon answers at all is health and not decided here. */
export function toAgentState(
  status: DaemonStatus,
  waits: Waits,
  at: Instant,
  stalledAfterMs = STALLED_AFTER_MS,
): DaemonState {
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
