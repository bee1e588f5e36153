import { createHash } from 'node:crypto';
import type { Priority } from '../inbox/index.ts';
import type { Instant } from '../model/index.ts';
import type { Carries, HookEvent, HookTurn } from './harness/index.ts';

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
  /** No person wrote the prompt. */
  readonly isContinued?: boolean;
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
      // A prompt that no person wrote is the middle of a turn, which a gate of prompts does not concern.
      return holds(moment) && !moment.isContinued ? { is: 'block', tells: null } : decideDelivery(moment, EVERYTHING);
    case 'PreToolUse':
      return holds(moment) ? { is: 'block', tells: null } : ALLOW;
    case 'PostToolUse':
      return decideDelivery(moment, moment.carries.everything === true ? EVERYTHING : URGENT);
    case 'PreCompact':
      // Nothing said here reaches the model; SessionStart with the source `compact` follows.
      return holds(moment) ? { is: 'block', tells: null } : ALLOW;
    case 'Stop':
      return decideAtStop(moment);
    case 'StopFailure':
    case 'Interrupt':
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
  if (delivery === 'inject' && carries.onlyRings !== true) return { is: 'inject', upTo };
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
const MOST_STOPS = 8;

/**
 * Whether a new turn begins: the harness names another turn, or a prompt or a session begins it. A Stop also counts if the
 * harness says that no hook let the turn go on, because after a block of ours the harness would say otherwise.
 */
export function isTurnStart(pacing: Pacing, { event, id, stopHookActive, isSubagent, isContinued }: HookTurn): boolean {
  if (isSubagent || isContinued) return false;
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
