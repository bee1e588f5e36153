import type { WaitEvent } from '../events/index.ts';
import { type AgentState, formatIso, type Instant } from '../model/index.ts';

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
 * Several reporters see the same wait a few seconds apart (docs/contract/agent-state.md). A wait that began later than this
 * after the delivered one is another wait, although nobody saw the agent go on in between.
 */
const SAME_WAIT_MS = 15_000;

/**
 * Returns the events that are due: each wait is delivered once as `waiting`, and its end once as `resumed`. A state that
 * says nothing of the agent ends no wait, because after a restart its reporters come back one after the other.
 */
export function findWaitChanges(agent: HeardAgent | null, wait: AgentWait | null): readonly WaitChange[] {
  if (agent === null) return NOTHING;
  const { state, at } = agent;
  switch (state.is) {
    case 'unknown':
    case 'live':
      return NOTHING;
    case 'waiting':
      if (wait === null) return [toWaiting(state, state.why)];
      return isOther(wait, state) ? [toResumed(wait, state, at), toWaiting(state, state.why)] : NOTHING;
    default:
      return wait === null ? NOTHING : [toResumed(wait, state, at)];
  }
}

const NOTHING: readonly WaitChange[] = [];

function isOther({ since }: AgentWait, state: AgentState): boolean {
  return since !== null && state.since !== undefined && state.since - since > SAME_WAIT_MS;
}

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
  const end = state.since ?? at;
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
