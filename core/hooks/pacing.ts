import { createHash } from 'node:crypto';
import type { Instant } from '../model/index.ts';
import type { HookTurn } from './harness/index.ts';

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
export const MOST_STOPS = 8;

/**
 * A turn is a new one when the harness names another, when a prompt or a session began it, and at a Stop of which the harness
 * says that no hook let it go on: a block of ours would have.
 */
export function isTurnStart(pacing: Pacing, { event, id, stopHookActive, isSubagent }: HookTurn): boolean {
  if (isSubagent) return false;
  if (event === 'SessionStart' || event === 'UserPromptSubmit') return true;
  return (id !== null && pacing.turn !== null && id !== pacing.turn) || (event === 'Stop' && stopHookActive === false);
}

/** The pacing that a call begins with. */
export function advancePacing(pacing: Pacing, turn: HookTurn): Pacing {
  const { event, id, isSubagent } = turn;
  if (isSubagent) return pacing;
  if (isTurnStart(pacing, turn)) return { ...AT_REST, turn: id, stops: pacing.stops, rung: pacing.rung };
  const named = id ?? pacing.turn;
  if (event === 'PostToolUse' && pacing.held) return { ...pacing, turn: named, held: false, moves: pacing.moves + 1 };
  return named === pacing.turn ? pacing : { ...pacing, turn: named };
}

/** After gates held the turn. */
export function recordBlock(pacing: Pacing, now: Instant): Pacing {
  return { ...addStop(pacing, now), held: true };
}

/** After mail let the turn go on. */
export function recordContinue(pacing: Pacing, now: Instant): Pacing {
  return { ...addStop(pacing, now), continued: pacing.continued + 1 };
}

function addStop(pacing: Pacing, now: Instant): Pacing {
  return { ...pacing, stops: [...pacing.stops, now].slice(-MOST_STOPS) };
}

/** What gates do not see of a turn, in short: the same text when nothing came and the agent neither said nor did anything new. */
export function computeTurnHash({ moves }: Pacing, pending: readonly number[], lastMessage: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([pending, moves, lastMessage]))
    .digest('hex')
    .slice(0, 32);
}

/** As JSON has it; anything that does not fit is a session at rest. */
export function toPacing(value: unknown): Pacing {
  if (value === null || typeof value !== 'object') return AT_REST;
  const { turn, continued, held, moves, stops, rung } = value as Partial<Record<keyof Pacing, unknown>>;
  return {
    turn: parseText(turn),
    continued: parseCount(continued),
    held: held === true,
    moves: parseCount(moves),
    stops: Array.isArray(stops) ? stops.filter((at) => typeof at === 'number').slice(-MOST_STOPS) : [],
    rung: parseText(rung),
  };
}

const parseText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const parseCount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
