import type { Priority } from '../inbox/index.ts';
import type { Instant } from '../model/index.ts';
import type { Carries, HookEvent } from './harness/index.ts';
import type { Pacing } from './pacing.ts';

/** What the gates say at this moment. */
export interface GateSummary {
  /** What strict gates lack, for the agent; null: they hold nobody, or let it go (`LetGoReason` of the gates). */
  readonly lacks: string | null;
  /** What soft gates would like. */
  readonly warnings: readonly string[];
}

/** Everything that is known of a moment between an agent's turns, or in the middle of one. */
export interface HookMoment {
  readonly event: HookEvent;
  readonly carries: Carries;
  readonly gates: GateSummary;
  /** How many wait, by priority. */
  readonly pending: readonly [number, number, number, number, number];
  /** Names what waits: another text when something came. */
  readonly waiting: string;
  readonly pacing: Pacing;
  /** The harness says that the model cannot be asked. */
  readonly failure: string | null;
  readonly isSubagent: boolean;
  /** `inject`: contents; `doorbell`: that there is something, which the agent then fetches. */
  readonly delivery: 'inject' | 'doorbell';
  /** Whether mail of priority 0 or 1 lets a turn go on that would end. */
  readonly onStop: 'continue' | 'leave';
  readonly now: Instant;
}

export type HookMove =
  | { readonly is: 'allow' }
  /** Items up to this priority are drained and told. At Stop the turn goes on with it. */
  | { readonly is: 'inject'; readonly upTo: Priority }
  /** Likewise without their contents; nothing is drained. */
  | { readonly is: 'ring' }
  /** Gates hold it. `tells`: what is drained goes into the reason; null: nobody would read it there. */
  | { readonly is: 'block'; readonly tells: 'inject' | 'ring' | null };

/** Mail lets one turn go on so often at the most. */
export const MOST_CONTINUES = 2;
/** Whatever a harness says of its turns: so many in so short a time are a loop. */
export const LOOP = { stops: 8, withinMs: 120_000 };

const ALLOW: HookMove = { is: 'allow' };
const EVERYTHING: Priority = 4;
const URGENT: Priority = 1;

/**
 * What happens at a boundary: the seed's chain of loop guard, gates and drain as one function (inbox and gates, "Handler
 * Priority Chain"; contract 4 and 5).
 */
export function decideMove(moment: HookMoment): HookMove {
  const { event, failure, isSubagent } = moment;
  // What a helper of the agent reads, the persona has not read; and a model that cannot be asked is asked for nothing.
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

/** Whether gates hold it here. How often in a turn, and that something must have changed, is a bound of theirs. */
function holds({ gates, carries }: HookMoment): boolean {
  return gates.lacks !== null && carries.block;
}

function decideDelivery(moment: HookMoment, upTo: Priority): HookMove {
  const { carries, pending, delivery, event, waiting, pacing } = moment;
  if (!carries.text || pending.slice(0, upTo + 1).every((count) => count === 0)) return ALLOW;
  if (delivery === 'inject') return { is: 'inject', upTo };
  // A bell that rings after every tool call until somebody comes is no help.
  const isNew = event === 'SessionStart' || event === 'UserPromptSubmit' || waiting !== pacing.rung;
  return isNew ? { is: 'ring' } : ALLOW;
}

function isLoop(stops: readonly Instant[], now: Instant): boolean {
  return stops.filter((at) => Math.abs(now - at) < LOOP.withinMs).length >= LOOP.stops;
}

function countPending({ pending }: Pick<HookMoment, 'pending'>): number {
  return pending.reduce((sum, count) => sum + count, 0);
}
