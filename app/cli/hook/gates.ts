import { heldOf, type Turn, type Verdict } from '../../../core/hooks/index.ts';
import { harmless } from '../../../core/inbox/drain/index.ts';
import { BUILT_INS, type Gates, hookNamed, terminalOf } from '../../../core/inbox/gates/index.ts';
import type { Io } from '../command.ts';

/** Nothing is held. */
export const OPEN_WAY: Verdict = { lacks: null, warnings: [] };

export interface AskGates {
  readonly gates: Gates;
  /** Whose, in the local hive. */
  readonly name: string;
  readonly turn: Turn;
  readonly cwd: string;
  readonly env: Io['env'];
}

/**
 * What the gates of this moment say; with everything that follows from it in the store of the gates. `state` changes when
 * something came that is worth another block. A session without a name is held by nobody.
 */
export async function askGates({ gates, name, turn, cwd, env }: AskGates, state: string): Promise<Verdict> {
  const { event, session, stopHookActive, failure, lastMessage } = turn;
  const hook = hookNamed(event);
  if (hook === null || session === null) return OPEN_WAY;
  if (event === 'PreToolUse' && !hasOwnForTools(gates, name)) return OPEN_WAY;
  const { decision, reason, results, warnings } = await gates.check({
    ...{ persona: name, hook, session, terminal: terminalOf(env), cwd, env, soft: false },
    ...{ stopHookActive: stopHookActive === true, apiError: failure !== null, also: heldOf(state, lastMessage) },
  });
  const isNobodys = event === 'PreToolUse' && !results.some((one) => isOwn(one.gate_id) && !one.satisfied);
  return { lacks: decision === 'block' && !isNobodys ? beside(reason) : null, warnings: warnings.map(beside) };
}

const isOwn = (id: string): boolean => !BUILT_INS.some((gate) => gate.id === id);

/**
 * What every persona has would hold every call of a tool, the one that marks it included: before a tool only gates hold
 * that somebody registered under a name of their own.
 */
function hasOwnForTools(gates: Gates, name: string): boolean {
  try {
    return gates.list(name).standings.some(({ gate }) => gate.hook === 'PreToolUse' && isOwn(gate.id));
  } catch {
    return true; // the gates themselves are asked, and say what is wrong
  }
}

/** Whether a strict gate of a Stop is open now; nothing is changed by asking. Never rejects. */
export async function wouldHold({ gates, name, turn, cwd, env }: AskGates): Promise<boolean> {
  if (turn.session === null) return false;
  try {
    const stands = await gates.status({ persona: name, session: turn.session, terminal: terminalOf(env), cwd, env });
    return stands.some(({ gate, isSatisfied }) => gate.hook === 'Stop' && gate.mode === 'strict' && !isSatisfied);
  } catch {
    return true; // the gates themselves are asked, and say what is wrong
  }
}

/** A gate's words stand beside a frame, which nothing in them may close or open. */
function beside(text: string): string {
  return harmless(text, Number.POSITIVE_INFINITY).text;
}
