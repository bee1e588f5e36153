import { createHash } from 'node:crypto';
import type { Instant } from '../model/index.ts';
import type { Turn } from './harness/index.ts';

/** What is remembered of a session between two calls of its hook, so that nobody is held for ever. */
export interface Pacing {
  /** The harness's name for the turn; null where it has none. */
  readonly turn: string | null;
  /** How often mail let this turn go on. */
  readonly continued: number;
  /** Gates held this turn, and the agent did nothing since. How often they did the gates know themselves. */
  readonly held: boolean;
  /** How often the agent did something after gates held it. */
  readonly moves: number;
  /** When turns were made to go on, the newest last. */
  readonly stops: readonly Instant[];
  /** What was pending when it was rung for; null: not rung yet. */
  readonly rung: string | null;
}

export const AT_REST: Pacing = {
  turn: null,
  continued: 0,
  held: false,
  moves: 0,
  stops: [],
  rung: null,
};

/** As many as the loop guard looks at, and no more. */
export const STOPS_KEPT = 8;

/**
 * A turn is a new one when the harness names another, when a prompt or a session began it, and at a Stop of which the harness
 * says that no hook let it go on: a block of ours would have.
 */
export function beginsTurn(kept: Pacing, { event, id, stopHookActive, isSubagent }: Turn): boolean {
  if (isSubagent) return false;
  if (event === 'SessionStart' || event === 'UserPromptSubmit') return true;
  return (id !== null && kept.turn !== null && id !== kept.turn) || (event === 'Stop' && stopHookActive === false);
}

/** The pacing that a call begins with. */
export function pacedAt(kept: Pacing, turn: Turn): Pacing {
  const { event, id, isSubagent } = turn;
  if (isSubagent) return kept;
  if (beginsTurn(kept, turn)) return { ...AT_REST, turn: id, stops: kept.stops, rung: kept.rung };
  const named = id ?? kept.turn;
  if (event === 'PostToolUse' && kept.held) return { ...kept, turn: named, held: false, moves: kept.moves + 1 };
  return named === kept.turn ? kept : { ...kept, turn: named };
}

/** After gates held the turn. */
export function afterBlock(pacing: Pacing, now: Instant): Pacing {
  return { ...stopped(pacing, now), held: true };
}

/** After mail let the turn go on. */
export function afterContinue(pacing: Pacing, now: Instant): Pacing {
  return { ...stopped(pacing, now), continued: pacing.continued + 1 };
}

function stopped(pacing: Pacing, now: Instant): Pacing {
  return { ...pacing, stops: [...pacing.stops, now].slice(-STOPS_KEPT) };
}

/** What gates do not see of a turn, in short: the same text when nothing came and the agent neither said nor did anything new. */
export function stateOf({ moves }: Pacing, pending: readonly number[], lastMessage: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([pending, moves, lastMessage]))
    .digest('hex')
    .slice(0, 32);
}

/** As JSON has it; anything that does not fit is a session at rest. */
export function pacingIn(value: unknown): Pacing {
  if (value === null || typeof value !== 'object') return AT_REST;
  const { turn, continued, held, moves, stops, rung } = value as Partial<Record<keyof Pacing, unknown>>;
  return {
    turn: textOr(turn),
    continued: countOr(continued),
    held: held === true,
    moves: countOr(moves),
    stops: Array.isArray(stops) ? stops.filter((at) => typeof at === 'number').slice(-STOPS_KEPT) : [],
    rung: textOr(rung),
  };
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const countOr = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
