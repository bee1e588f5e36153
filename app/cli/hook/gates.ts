import type { Io } from '../../../core/command/index.ts';
import type { GateSummary, HookTurn } from '../../../core/hooks/index.ts';
import { toHarmless } from '../../../core/inbox/drain/index.ts';
import { findHook, findTerminal, type Gates, isCheckedByHook } from '../../../core/inbox/gates/index.ts';

/** No gate holds anything. */
export const OPEN_WAY: GateSummary = { lacks: null, warnings: [] };

export interface AskGates {
  readonly gates: Gates;
  /** The persona's name in the local hive. */
  readonly name: string;
  readonly turn: HookTurn;
  readonly cwd: string;
  readonly env: Io['env'];
}

/**
 * Checks the gates at this moment, and stores what follows from the check. A different `state` says that something came that is
 * worth another block. No gate holds a session without an id.
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
 * Whether a gate that cannot decide may hold this Stop. It holds once only: the harness must say that this Stop was not held
 * before, because the broken part may be the one that counts blocks.
 */
export function mayHoldUndecided({ event, session, stopHookActive, failure, isSubagent }: HookTurn): boolean {
  return event === 'Stop' && session !== null && stopHookActive === false && failure === null && !isSubagent;
}

export function formatUndecided(why: string): string {
  return `gates could not be checked: ${why} (run hivebar doctor, report its output, then stop again)`;
}

function hasOwnForTools(gates: Gates, name: string): boolean {
  try {
    return gates
      .list(name)
      .gateStates.some((gateState) => gateState.gate.hook === 'PreToolUse' && isCheckedByHook(gateState));
  } catch {
    return true; // the check of the gates follows and reports the error
  }
}

/** Whether a strict gate of a Stop is not satisfied now. Asking changes nothing. Never rejects. */
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
    return true; // the check of the gates follows and reports the error
  }
}

/** Cleans the text of a gate, so that nothing in it can close or open the frame beside it. */
export function sanitizeText(text: string): string {
  return toHarmless(text, Number.POSITIVE_INFINITY).text;
}
