import { MOST_COUNTED } from '../inbox/index.ts';
import type { Instant } from '../model/index.ts';

/** What is known of an agent for which items are staged (inbox and gates, contract 7). Times are wall clock. */
export interface NudgeFacts {
  /** How many items wait, by priority, counted now. */
  readonly pending: readonly [number, number, number, number, number];
  /** Identifies the items that wait: the text changes when an item arrives. */
  readonly waiting: string;
  /** When the agent's hook last ran, and at which moment; null: never, so nothing is known of its turns. */
  readonly last: { readonly moment: string; readonly at: Instant } | null;
  /** The previous nudge; null: none. */
  readonly before: NudgeRecord | null;
  readonly now: Instant;
}

/** A nudge that was sent. */
export interface NudgeRecord {
  readonly waiting: string;
  readonly at: Instant;
}

export type Nudge =
  | { readonly is: 'nudge' }
  /** Too early: decide again after this many milliseconds. */
  | { readonly is: 'later'; readonly ms: number }
  | { readonly is: 'none'; readonly why: 'nothing waits' | 'working' | 'outstanding' | 'told' | 'over' | 'unknown' };

const MINUTE = 60_000;
/** After this time a nudge without an answer counts as lost. */
export const NUDGE_LAPSES_MS = 30 * MINUTE;
/** A new session gets this long: it may be given its first prompt, or go on after a compaction. */
export const STARTS_MS = MINUTE;
/**
 * How long an agent counts as working after a moment, in milliseconds. The time is limited because no hook reports that a person
 * broke off a turn. A tool may run long.
 */
export const WORKS_MS: Readonly<Record<string, number>> = {
  UserPromptSubmit: 15 * MINUTE,
  PreToolUse: 60 * MINUTE,
  PostToolUse: 15 * MINUTE,
  PreCompact: 15 * MINUTE,
  Continued: 15 * MINUTE,
};

/**
 * Decides whether to nudge an agent. An idle agent is nudged once; a working agent is never nudged, because its next hook
 * delivers. At most one nudge is outstanding, and the same waiting items are not nudged for twice. Ask with what waits at that
 * very moment, so that no nudge is sent for mail that was read meanwhile (contract 8, defect 13).
 */
export function decideNudge({ pending, waiting, last, before, now }: NudgeFacts): Nudge {
  if (pending.every((count) => count === 0)) return { is: 'none', why: 'nothing waits' };
  if (last === null) return { is: 'none', why: 'unknown' };
  const idle = computeIdleIn(last.moment, now - last.at);
  if (idle === 'over') return { is: 'none', why: 'over' };
  if (idle > 0) return last.moment === 'SessionStart' ? { is: 'later', ms: idle } : { is: 'none', why: 'working' };
  if (before === null) return { is: 'nudge' };
  const isAnswered = last.at > before.at;
  if (!isAnswered && now - before.at < NUDGE_LAPSES_MS) return { is: 'none', why: 'outstanding' };
  return isAnswered && before.waiting === waiting ? { is: 'none', why: 'told' } : { is: 'nudge' };
}

/** Milliseconds until the agent is idle if nothing else happens; 0: it is idle. `over`: a nudge cannot reach the agent. */
function computeIdleIn(moment: string, age: number): number | 'over' {
  switch (moment) {
    case 'Stop':
      return 0;
    case 'SessionStart':
      return Math.max(0, STARTS_MS - age);
    case 'SessionEnd':
    case 'StopFailure': // the model cannot be asked: a nudge would fail as the turn did
      return 'over';
    default:
      return Math.max(0, (WORKS_MS[moment] ?? 0) - age);
  }
}

/** Formats the nudge: that something waits and how much. It contains no text that anybody else wrote. */
export function formatNudge(pending: NudgeFacts['pending']): string {
  const total = pending.reduce((sum, count) => sum + count, 0);
  const urgent = pending[0] + pending[1];
  const items = total === 1 ? '1 item waits' : `${total}${total >= MOST_COUNTED ? ' or more' : ''} items wait`;
  return `hivebar: ${items} in your inbox${urgent === 0 ? '' : ` (${urgent} urgent)`}`;
}
