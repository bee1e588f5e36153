import type { Priority } from '../inbox/index.ts';
import type { Instant } from '../model/index.ts';
import type { Carries, HookEvent } from './harness/index.ts';
import type { Pacing } from './pacing.ts';

/** The result of the gates at this moment. */
export interface GateSummary {
  /**
   * What strict gates still need, for the agent; null: no gate holds, or the gates let the turn go (`LetGoReason` of the gates).
   */
  readonly lacks: string | null;
  /** What soft gates warn about. */
  readonly warnings: readonly string[];
}

/** Everything that is known of a moment between an agent's turns, or in the middle of a turn. */
export interface HookMoment {
  readonly event: HookEvent;
  readonly carries: Carries;
  readonly gates: GateSummary;
  /** How many items wait, by priority. */
  readonly pending: readonly [number, number, number, number, number];
  /** Identifies the items that wait: the text changes when an item arrives. */
  readonly waiting: string;
  readonly pacing: Pacing;
  /** Why the harness cannot ask the model; null: it can. */
  readonly failure: string | null;
  readonly isSubagent: boolean;
  /** `inject` delivers contents; `doorbell` says that something waits, and the agent fetches it. */
  readonly delivery: 'inject' | 'doorbell';
  /** Whether mail of priority 0 or 1 lets a turn go on that would end. */
  readonly onStop: 'continue' | 'leave';
  readonly now: Instant;
}

export type HookMove =
  | { readonly is: 'allow' }
  /** Items up to this priority are drained and delivered. At Stop the turn goes on with them. */
  | { readonly is: 'inject'; readonly upTo: Priority }
  /** A notice says that items wait, without their contents; nothing is drained. */
  | { readonly is: 'ring' }
  /**
   * Gates hold the turn. `tells`: how waiting items go into the reason; null: they do not, because the model would not read them
   * there.
   */
  | { readonly is: 'block'; readonly tells: 'inject' | 'ring' | null };

/** Mail lets one turn go on at most this often. */
export const MOST_CONTINUES = 2;
/** This many stops within this time are a loop, whatever the harness says of its turns. */
export const LOOP = { stops: 8, withinMs: 120_000 };

const ALLOW: HookMove = { is: 'allow' };
const EVERYTHING: Priority = 4;
const URGENT: Priority = 1;

/**
 * Decides what happens at a turn boundary: the seed's chain of loop guard, gates and drain as one function (inbox and gates,
 * "Handler Priority Chain"; contract 4 and 5).
 */
export function decideMove(moment: HookMoment): HookMove {
  const { event, failure, isSubagent } = moment;
  // What a subagent reads does not reach the persona. After a failure the model cannot be asked, so nothing is delivered.
  if (isSubagent || failure !== null) return ALLOW;
  switch (event) {
    case 'SessionStart':
      return decideDelivery(moment, EVERYTHING);
    case 'UserPromptSubmit':
      // The person reads the reason of a block here, not the model: nothing is drained into it.
      return holds(moment) ? { is: 'block', tells: null } : decideDelivery(moment, EVERYTHING);
    case 'PreToolUse':
      return holds(moment) ? { is: 'block', tells: null } : ALLOW;
    case 'PostToolUse':
      return decideDelivery(moment, URGENT);
    case 'PreCompact':
      // Nothing said here reaches the model; SessionStart with the source `compact` follows.
      return holds(moment) ? { is: 'block', tells: null } : ALLOW;
    case 'Stop':
      return decideAtStop(moment);
    case 'StopFailure':
    case 'SessionEnd':
    case 'PermissionRequest':
    case 'Notification':
    case 'SubagentStop':
      return ALLOW;
  }
}

function decideAtStop(moment: HookMoment): HookMove {
  const { pacing, now, delivery, onStop } = moment;
  if (isLoop(pacing.stops, now)) return ALLOW;
  if (holds(moment))
    return { is: 'block', tells: countPending(moment) === 0 ? null : delivery === 'inject' ? 'inject' : 'ring' };
  if (onStop === 'leave' || pacing.continued >= MOST_CONTINUES) return ALLOW;
  return decideDelivery(moment, URGENT);
}

/**
 * Whether gates hold the turn here. The gates themselves limit how often they hold a turn, and require that something changed.
 */
function holds({ gates, carries }: HookMoment): boolean {
  return gates.lacks !== null && carries.block;
}

function decideDelivery(moment: HookMoment, upTo: Priority): HookMove {
  const { carries, pending, delivery, event, waiting, pacing } = moment;
  if (!carries.text || pending.slice(0, upTo + 1).every((count) => count === 0)) return ALLOW;
  if (delivery === 'inject') return { is: 'inject', upTo };
  // A doorbell rings once for the same items, not after every tool call.
  const isNew = event === 'SessionStart' || event === 'UserPromptSubmit' || waiting !== pacing.rung;
  return isNew ? { is: 'ring' } : ALLOW;
}

function isLoop(stops: readonly Instant[], now: Instant): boolean {
  return stops.filter((at) => Math.abs(now - at) < LOOP.withinMs).length >= LOOP.stops;
}

function countPending({ pending }: Pick<HookMoment, 'pending'>): number {
  return pending.reduce((sum, count) => sum + count, 0);
}
