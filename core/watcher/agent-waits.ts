import type { WaitEvent } from '../events/index.ts';
import { type AgentState, formatIso, type Instant, isSameWait } from '../model/index.ts';

/** One time that the agent waits for a person. Plain data, which is saved with the state of the watcher. */
export interface AgentWait {
  readonly reason: string;
  /** When it began; null when nobody said so. */
  readonly since: Instant | null;
}

/** What the board said last of the agent, and when it said so. */
export interface HeardAgent {
  readonly state: AgentState;
  readonly at: Instant;
}

/** An event about a wait, and the wait that counts as delivered once the sink has it. */
export interface WaitChange {
  readonly event: WaitEvent;
  readonly delivered: AgentWait | null;
}

/**
 * Returns the events that are due: each wait is delivered once as `waiting`, and its end once as `resumed`. A state that
 * says nothing of the agent ends no wait, because after a restart its reporters come back one after the other. A wait for a decision
 * ends with it, also where nobody says what the agent does then.
 */
export function findWaitChanges(agent: HeardAgent | null, wait: AgentWait | null): readonly WaitChange[] {
  if (agent === null) return NOTHING;
  const { state, at } = agent;
  switch (state.is) {
    case 'unknown':
    case 'live':
      return wait?.reason === 'decision' && state.decision === null ? [toResumed(wait, state, at)] : NOTHING;
    case 'waiting':
      if (wait === null) return [toWaiting(state, state.why)];
      if (isSameWait(wait.since, state.since ?? null)) return NOTHING;
      return [toResumed(wait, state, at), toWaiting(state, state.why)];
    default:
      return wait === null ? NOTHING : [toResumed(wait, state, at)];
  }
}

const NOTHING: readonly WaitChange[] = [];

function toWaiting({ since, cwd }: AgentState, reason: string): WaitChange {
  return {
    event: {
      event: 'waiting',
      reason,
      ...(since !== undefined && { since: formatIso(since) }),
      ...(cwd !== undefined && { cwd }),
    },
    delivered: { reason, since: since ?? null },
  };
}

function toResumed({ reason, since }: AgentWait, state: AgentState, at: Instant): WaitChange {
  const { is, cwd } = state;
  // A decision does not change what else is said of the agent, so that may have begun before the wait.
  const end = state.since !== undefined && state.since >= (since ?? 0) ? state.since : at;
  return {
    event: {
      event: 'resumed',
      reason,
      agent: is,
      ...(since !== null && { waited_ms: Math.max(0, Math.round(end - since)) }),
      ...(cwd !== undefined && { cwd }),
    },
    delivered: null,
  };
}
