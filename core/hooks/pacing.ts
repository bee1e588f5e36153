import { createHash } from 'node:crypto';
import type { Instant } from '../model/index.ts';
import type { HookTurn } from './harness/index.ts';

/** What Hivebar remembers of a session between two calls of its hook, so that no turn is held for ever. */
export interface Pacing {
  /** The harness's name for the turn; null: the harness gave none. */
  readonly turn: string | null;
  /** How often mail let this turn go on. */
  readonly continued: number;
  /** Gates held this turn, and the agent has done nothing since. The gates themselves count how often they held it. */
  readonly held: boolean;
  /** How often the agent did something after gates held the turn. */
  readonly moves: number;
  /** When a turn was made to go on, oldest first. */
  readonly stops: readonly Instant[];
  /** What was pending at the last ring; null: no ring yet. */
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

/** How many stops are kept: as many as the loop guard needs. */
export const MOST_STOPS = 8;

/**
 * Whether a new turn begins: the harness names another turn, or a prompt or a session begins it. A Stop also counts if the
 * harness says that no hook let the turn go on, because after a block of ours the harness would say otherwise.
 */
export function isTurnStart(pacing: Pacing, { event, id, stopHookActive, isSubagent }: HookTurn): boolean {
  if (isSubagent) return false;
  if (event === 'SessionStart' || event === 'UserPromptSubmit') return true;
  return (id !== null && pacing.turn !== null && id !== pacing.turn) || (event === 'Stop' && stopHookActive === false);
}

/** The pacing at the start of a call. */
export function advancePacing(pacing: Pacing, turn: HookTurn): Pacing {
  const { event, id, isSubagent } = turn;
  if (isSubagent) return pacing;
  if (isTurnStart(pacing, turn)) return { ...AT_REST, turn: id, stops: pacing.stops, rung: pacing.rung };
  const named = id ?? pacing.turn;
  if (event === 'PostToolUse' && pacing.held) return { ...pacing, turn: named, held: false, moves: pacing.moves + 1 };
  return named === pacing.turn ? pacing : { ...pacing, turn: named };
}

/** The pacing after gates held the turn. */
export function recordBlock(pacing: Pacing, now: Instant): Pacing {
  return { ...addStop(pacing, now), held: true };
}

/** The pacing after mail let the turn go on. */
export function recordContinue(pacing: Pacing, now: Instant): Pacing {
  return { ...addStop(pacing, now), continued: pacing.continued + 1 };
}

function addStop(pacing: Pacing, now: Instant): Pacing {
  return { ...pacing, stops: [...pacing.stops, now].slice(-MOST_STOPS) };
}

/**
 * Hashes what gates do not see of a turn. The hash stays the same if nothing arrived and the agent neither said nor did anything
 * new.
 */
export function computeTurnHash({ moves }: Pacing, pending: readonly number[], lastMessage: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([pending, moves, lastMessage]))
    .digest('hex')
    .slice(0, 32);
}

/** Parses a pacing from JSON. A value of another shape counts as a session at rest. */
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
