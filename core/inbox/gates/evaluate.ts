import { createHash } from 'node:crypto';
import type { Instant } from '../../model/index.ts';
import {
  type AgentToolCall,
  type Asker,
  type CheckName,
  DECISION_WAITING,
  type Gate,
  type GateState,
  type Hook,
  holds,
  isConsumed,
  isFresh,
  isGateCommand,
  isMatchingCall,
  type Mode,
} from './gate.ts';

/** The result of an automatic check. `failed`: it could not tell, which counts as `clear` and is reported. */
export type CheckAnswer =
  | { readonly is: 'clear' }
  /** `detail` changes when the checked state changes. */
  | { readonly is: 'open'; readonly detail: string }
  | { readonly is: 'failed'; readonly why: string };

/** What is known of the turn, from one prompt to the next. */
export interface GateTurn {
  /** The state at each strict block so far, as in `GateEvaluation.print`. */
  readonly blocks: readonly string[];
  /** Gates that were open at the last report to the session. */
  readonly open: readonly string[];
}

export interface GateQuestion extends Asker {
  readonly hook: Hook;
  readonly gateStates: readonly GateState[];
  readonly checks: ReadonlyMap<CheckName, CheckAnswer>;
  readonly turn: GateTurn;
  readonly now: Instant;
  /** The harness already goes on because a Stop was blocked. */
  readonly stopHookActive: boolean;
  /** The harness reported a rate limit, no authorisation, or no credit. Going on would fail again. */
  readonly apiError: boolean;
  /** Every gate counts as soft. */
  readonly soft: boolean;
  /** Further state: if it changed, the same gate may block once more. */
  readonly also: string;
  /** At PreToolUse: the call that is about to be made; null: unknown, so every gate applies to it. */
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

/** Why open strict gates did not block. */
export type LetGoReason = 'api-error' | 'nothing-changed' | 'blocked-enough';

export interface GateVerdict {
  readonly decision: 'allow' | 'block';
  /** Open strict gates, as `ID: text`, joined by `; `; empty if the decision is `allow`. */
  readonly reason: string;
  readonly results: readonly GateResult[];
  /** Open soft gates with what to do, strict gates that were let go, and failures on our side. */
  readonly warnings: readonly string[];
  readonly letGo: LetGoReason | null;
  /** Why it is unknown whether some gates are open; these gates count as closed. Null: all are known. */
  readonly undecided: string | null;
}

/** A verdict with the changes that follow from it. */
export interface GateEvaluation extends GateVerdict {
  /** A hash of the state. */
  readonly print: string;
  /** Gates that a check closed and that need a mark for it. */
  readonly passed: readonly string[];
  /** Gates whose mark is used up if the decision is `allow`. */
  readonly consumed: readonly string[];
  /** Open gates of this hook. */
  readonly open: readonly string[];
}

/** The most strict blocks in one turn. */
export const MOST_BLOCKS = 3;

/** Evaluates the gates of one hook (contract 4). Pure: it reads, writes and asks nothing. */
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
 * Whether a block at this hook makes the harness go on by itself, which would never end without a limit. A denied call or a
 * refused prompt is repeated only if somebody makes it again.
 */
export function canLoop(hook: Hook): boolean {
  return hook !== 'PreToolUse' && hook !== 'UserPromptSubmit';
}

function isConcerned({ matcher }: Gate, call: AgentToolCall | null): boolean {
  if (call === null) return true;
  return !isGateCommand(call) && (matcher === null || isMatchingCall(matcher, call));
}

/** Turns a block into `allow`, because the limit is reached or the block could not be counted. */
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
  return strict.map((result) => `${formatGateResult(result)} [released: ${LET_GO[letGo]}]`);
}

const LET_GO = {
  'api-error': 'the harness cannot go on',
  'nothing-changed': 'nothing changed since it blocked',
  'blocked-enough': `it blocked ${MOST_BLOCKS} times in this turn`,
} as const satisfies Record<LetGoReason, string>;

interface GateJudgement {
  readonly result: GateResult;
  /** A check closed the gate, and no mark says so yet. */
  readonly hasPassed: boolean;
  readonly isUsedUp: boolean;
  readonly detail: string;
  readonly trouble: string | null;
}

/**
 * Judges a gate by a valid mark, else by its check. A mark that a check left only notes the time. The check runs again, so that
 * work done since then is not missed.
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
  // Otherwise two sessions of one persona would write the mark in turn.
  const isNoted = mark !== null && (isMarked || (mark.by === 'auto' && isFresh(gate, mark, question.now)));
  const isNews = !isNoted || question.turn.open.includes(gate.id);
  return {
    result,
    hasPassed: answer?.is === 'clear' && isNews,
    isUsedUp: isClosed && mark !== null && isConsumed(gate),
    detail: answer?.is === 'open' ? answer.detail : '',
    trouble: answer?.is === 'failed' ? `${gate.id}: not checked, so treated as satisfied: ${answer.why}` : null,
  };
}

function findAnswer(check: CheckName | null, question: GateQuestion): CheckAnswer | null {
  if (check === null) return null;
  if (check !== 'decision-waiting') {
    return question.checks.get(check) ?? { is: 'failed', why: `${check} was not checked` };
  }
  const waiting = question.gateStates.find(({ gate }) => gate.id === DECISION_WAITING);
  const isWaiting = waiting !== undefined && holds(waiting, question, question.now);
  return isWaiting ? { is: 'clear' } : { is: 'open', detail: '' };
}

function computePrint({ hook, gateStates, also }: GateQuestion, judgements: readonly GateJudgement[]): string {
  const hookStates = gateStates.filter(({ gate }) => gate.hook === hook);
  // A mark that a check left is our own, and adds nothing that `findings` does not contain.
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

/** Where the session works, for the checks. */
export interface Workplace {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Checks a folder with `git status`: `open` if there is anything to commit, `failed` if git fails. Never rejects. */
export type GitCheck = (place: Workplace) => Promise<CheckAnswer>;

/** The variable with the bead that the session was started for. */
const HOOKED = 'GT_HOOK_BEAD';

/** Runs these checks, each once (contract 4). A folder without git, or without a repository, counts as clean. */
export async function runChecks(
  names: ReadonlySet<CheckName>,
  place: Workplace,
  git: GitCheck,
): Promise<ReadonlyMap<CheckName, CheckAnswer>> {
  const answers = [...names].map(async (name) => [name, await runCheck(name, place, git)] as const);
  return new Map(await Promise.all(answers));
}

async function runCheck(name: CheckName, place: Workplace, git: GitCheck): Promise<CheckAnswer> {
  switch (name) {
    case 'commit-push':
      return await git(place);
    case 'bead-update':
    case 'mol-gate-pending': {
      const bead = place.env[HOOKED] ?? '';
      return bead === '' ? { is: 'clear' } : { is: 'open', detail: bead };
    }
    case 'decision-waiting':
      return { is: 'failed', why: 'it is set by decisions and not checked here' };
  }
}
