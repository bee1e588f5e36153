import type { GateSummary, HookTurn } from '../../../core/hooks/index.ts';
import { toHarmless } from '../../../core/inbox/drain/index.ts';
import { findHook, findTerminal, type Gates, isCheckedByHook } from '../../../core/inbox/gates/index.ts';
import type { Io } from '../command.ts';

/** Nothing is held. */
export const OPEN_WAY: GateSummary = { lacks: null, warnings: [] };

export interface AskGates {
  readonly gates: Gates;
  /** Whose, in the local hive. */
  readonly name: string;
  readonly turn: HookTurn;
  readonly cwd: string;
  readonly env: Io['env'];
}

/**
 * What the gates of this moment say; with everything that follows from it in the store of the gates. `state` is
 * another text when something came that is worth another block. A session without a name is held by nobody.
 */
export async function askGates({ gates, name, turn, cwd, env }: AskGates, state: string): Promise<GateSummary> {
  const { event, session, stopHookActive, failure, tool } = turn;
  const hook = findHook(event);
  if (hook === null || session === null) return OPEN_WAY;
  if (event === 'PreToolUse' && !hasOwnForTools(gates, name)) return OPEN_WAY;
  const { decision, reason, warnings, undecided } = await gates.check({
    ...{ persona: name, hook, session, terminal: findTerminal(env), cwd, env, soft: false },
    ...{ stopHookActive: stopHookActive === true, apiError: failure !== null, also: state },
    ...{ call: event === 'PreToolUse' ? tool : null, by: 'hook' },
  });
  if (decision === 'allow' && undecided !== null && mayHoldUndecided(turn))
    return { lacks: sanitizeText(formatUndecided(undecided)), warnings: [] };
  return { lacks: decision === 'block' ? sanitizeText(reason) : null, warnings: warnings.map(sanitizeText) };
}

/**
 * A gate that cannot decide holds a Stop, once: only where the harness says that nobody held this one before, since what is broken
 * may be what counts the blocks.
 */
export function mayHoldUndecided({ event, session, stopHookActive, failure, isSubagent }: HookTurn): boolean {
  return event === 'Stop' && session !== null && stopHookActive === false && failure === null && !isSubagent;
}

export function formatUndecided(why: string): string {
  return `whether something holds this stop could not be told: ${why} (run hivebar doctor, say what it says, then stop again)`;
}

function hasOwnForTools(gates: Gates, name: string): boolean {
  try {
    return gates
      .list(name)
      .gateStates.some((gateState) => gateState.gate.hook === 'PreToolUse' && isCheckedByHook(gateState));
  } catch {
    return true; // the gates themselves are asked, and say what is wrong
  }
}

/** Whether a strict gate of a Stop is open now; nothing is changed by asking. Never rejects. */
export async function wouldHold({ gates, name, turn, cwd, env }: AskGates): Promise<boolean> {
  if (turn.session === null) return false;
  try {
    const gateStatuses = await gates.status({
      persona: name,
      session: turn.session,
      terminal: findTerminal(env),
      cwd,
      env,
    });
    return gateStatuses.some(({ gate, isSatisfied }) => gate.hook === 'Stop' && gate.mode === 'strict' && !isSatisfied);
  } catch {
    return true; // the gates themselves are asked, and say what is wrong
  }
}

/** A gate's words stand beside a frame, which nothing in them may close or open. */
export function sanitizeText(text: string): string {
  return toHarmless(text, Number.POSITIVE_INFINITY).text;
}
