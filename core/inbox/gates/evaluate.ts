import { createHash } from 'node:crypto';
import type { Instant } from '../../model/index.ts';
import {
  type Asker,
  type CheckName,
  DECISION_WAITING,
  type Gate,
  type GateState,
  type Hook,
  holds,
  isConsumed,
  isFresh,
  type Mode,
} from './gate.ts';
import { type AgentToolCall, isGateCommand, isMatchingCall } from './matcher.ts';

/** What an automatic check found. `failed`: it could not tell, which counts as `clear` and is said. */
export type CheckAnswer =
  | { readonly is: 'clear' }
  /** `detail` changes when what it looked at does. */
  | { readonly is: 'open'; readonly detail: string }
  | { readonly is: 'failed'; readonly why: string };

/** What is known of the turn, from one prompt to the next. */
export interface GateTurn {
  /** The state of things at each strict block so far, as `Judged.print` had it. */
  readonly blocks: readonly string[];
  /** Gates that the session was last told are open. */
  readonly open: readonly string[];
}

export interface GateQuestion extends Asker {
  readonly hook: Hook;
  readonly gateStates: readonly GateState[];
  readonly checks: ReadonlyMap<CheckName, CheckAnswer>;
  readonly turn: GateTurn;
  readonly now: Instant;
  /** The harness goes on already because a Stop was blocked. */
  readonly stopHookActive: boolean;
  /** The harness said: rate limit, no authorisation, out of credit. To go on would fail again. */
  readonly apiError: boolean;
  /** Every gate counts as soft. */
  readonly soft: boolean;
  /** What else the state of things is made of: when it changed, the same gate may block once more. */
  readonly also: string;
  /** At PreToolUse: the call that is about to be made; null: not known, and every gate concerns it. */
  readonly call: AgentToolCall | null;
}

export interface GateResult {
  readonly gate_id: string;
  readonly hook: Hook;
  readonly satisfied: boolean;
  readonly mode: Mode;
  readonly message: string;
  readonly hint: string | null;
}

/** Why strict gates that are open did not block. */
export type LetGoReason = 'api-error' | 'nothing-changed' | 'blocked-enough';

export interface GateVerdict {
  readonly decision: 'allow' | 'block';
  /** Strict gates that are open, as `ID: text`, joined by `; `; empty when it allows. */
  readonly reason: string;
  readonly results: readonly GateResult[];
  /** Soft gates that are open, with what to do; strict ones that were let go; what was wrong on our side. */
  readonly warnings: readonly string[];
  readonly letGo: LetGoReason | null;
  /** Why it could not be told whether a gate is open: of those it was taken that they are not. Null: all could be told. */
  readonly undecided: string | null;
}

/** A verdict with what is to be done because of it. */
export interface GateEvaluation extends GateVerdict {
  /** The state of things, in short. */
  readonly print: string;
  /** Gates that a check closed and that want a mark for it. */
  readonly passed: readonly string[];
  /** Gates whose mark is used up when it allows. */
  readonly consumed: readonly string[];
  /** Gates of this hook that are open. */
  readonly open: readonly string[];
}

/** At most so many strict blocks in one turn. */
export const MOST_BLOCKS = 3;

/** What the gates of one hook say (contract 4). Nothing is read, written or asked. */
export function evaluateGates(question: GateQuestion): GateEvaluation {
  const { hook, gateStates, turn, stopHookActive, apiError, call } = question;
  const judgements = gateStates
    .filter(({ gate }) => gate.hook === hook && isConcerned(gate, call))
    .map((gateState) => judgeGate(gateState, question));
  const results = judgements.map(({ result }) => result);
  const print = computePrint(question, judgements);
  const strict = results.filter(({ satisfied, mode }) => !satisfied && mode === 'strict');
  const letGo = ((): LetGoReason | null => {
    if (strict.length === 0) return null;
    if (apiError) return 'api-error';
    if (!canLoop(hook)) return null;
    if (stopHookActive && turn.blocks.at(-1) === print) return 'nothing-changed';
    return turn.blocks.length >= MOST_BLOCKS ? 'blocked-enough' : null;
  })();
  const blocks = strict.length > 0 && letGo === null;
  const soft = results.filter(({ satisfied, mode }) => !satisfied && mode === 'soft');
  return {
    decision: blocks ? 'block' : 'allow',
    reason: blocks ? strict.map(formatGateResult).join('; ') : '',
    results,
    warnings: [
      ...soft.map(formatGateResult),
      ...(letGo === null ? [] : formatLetGoWarnings(strict, letGo)),
      ...judgements.flatMap(({ trouble }) => (trouble === null ? [] : [trouble])),
    ],
    letGo,
    undecided: null,
    print,
    passed: judgements.filter(({ hasPassed }) => hasPassed).map(({ result }) => result.gate_id),
    consumed: apiError ? [] : judgements.filter(({ isUsedUp }) => isUsedUp).map(({ result }) => result.gate_id),
    open: results.filter(({ satisfied }) => !satisfied).map(({ gate_id }) => gate_id),
  };
}

/**
 * Whether a block at this hook makes the harness go on by itself, so that without a bound there would be no end of it. A call
 * that was denied, or a prompt that was refused, comes again only when somebody makes it again.
 */
export function canLoop(hook: Hook): boolean {
  return hook !== 'PreToolUse' && hook !== 'UserPromptSubmit';
}

function isConcerned({ matcher }: Gate, call: AgentToolCall | null): boolean {
  if (call === null) return true;
  return !isGateCommand(call) && (matcher === null || isMatchingCall(matcher, call));
}

/** The verdict when a block that was meant cannot be given: the bound is reached, or was not to be kept. */
export function letGoBlock(evaluation: GateEvaluation, letGo: LetGoReason): GateEvaluation {
  const strict = evaluation.results.filter(({ satisfied, mode }) => !satisfied && mode === 'strict');
  return {
    ...evaluation,
    decision: 'allow',
    reason: '',
    letGo,
    warnings: [...evaluation.warnings, ...formatLetGoWarnings(strict, letGo)],
  };
}

function formatLetGoWarnings(strict: readonly GateResult[], letGo: LetGoReason): readonly string[] {
  return strict.map((result) => `${formatGateResult(result)} [let go: ${LET_GO[letGo]}]`);
}

const LET_GO = {
  'api-error': 'the harness cannot go on',
  'nothing-changed': 'nothing changed since it blocked',
  'blocked-enough': `it blocked ${MOST_BLOCKS} times in this turn`,
} as const satisfies Record<LetGoReason, string>;

interface GateJudgement {
  readonly result: GateResult;
  /** A check closed it, and that is not written down. */
  readonly hasPassed: boolean;
  readonly isUsedUp: boolean;
  readonly detail: string;
  readonly trouble: string | null;
}

/**
 * By a mark that holds, else by the check. A mark that a check left is a note of when, not a word that is taken: the check is
 * asked again, so that work done since does not pass under it.
 */
function judgeGate(gateState: GateState, question: GateQuestion): GateJudgement {
  const { gate, mark } = gateState;
  const isMarked = holds(gateState, question, question.now);
  const isWord = isMarked && !(mark?.by === 'auto' && gate.check !== null);
  const answer = isWord ? null : findAnswer(gate.check, question);
  const isClosed = isWord || (answer !== null && answer.is !== 'open');
  const result: GateResult = {
    gate_id: gate.id,
    hook: question.hook,
    satisfied: isClosed,
    mode: question.soft ? 'soft' : gate.mode,
    message: isClosed ? 'satisfied' : gate.description,
    hint: gate.hint,
  };
  // Two sessions of one persona must not write it in turn.
  const isNoted = mark !== null && (isMarked || (mark.by === 'auto' && isFresh(gate, mark, question.now)));
  const isNews = !isNoted || question.turn.open.includes(gate.id);
  return {
    result,
    hasPassed: answer?.is === 'clear' && isNews,
    isUsedUp: isClosed && mark !== null && isConsumed(gate),
    detail: answer?.is === 'open' ? answer.detail : '',
    trouble: answer?.is === 'failed' ? `${gate.id}: not checked, taken as satisfied: ${answer.why}` : null,
  };
}

function findAnswer(check: CheckName | null, question: GateQuestion): CheckAnswer | null {
  if (check === null) return null;
  if (check !== 'decision-waiting') {
    return question.checks.get(check) ?? { is: 'failed', why: `${check} was not looked at` };
  }
  const waiting = question.gateStates.find(({ gate }) => gate.id === DECISION_WAITING);
  const isWaiting = waiting !== undefined && holds(waiting, question, question.now);
  return isWaiting ? { is: 'clear' } : { is: 'open', detail: '' };
}

function computePrint({ hook, gateStates, also }: GateQuestion, judgements: readonly GateJudgement[]): string {
  const hookStates = gateStates.filter(({ gate }) => gate.hook === hook);
  // What a check left is our own doing, and says nothing that `seen` does not.
  const marks = hookStates.map(({ gate, mark }) => [gate, mark?.by === 'auto' ? null : mark]);
  const findings = judgements.map(({ result, detail }) => [result.gate_id, result.satisfied, detail]);
  return createHash('sha256')
    .update(JSON.stringify([hook, also, marks, findings]))
    .digest('hex')
    .slice(0, 32);
}

function formatGateResult({ gate_id, message, hint }: GateResult): string {
  return `${gate_id}: ${message}${hint === null ? '' : ` (${hint})`}`;
}
