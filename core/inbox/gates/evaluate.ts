import { createHash } from 'node:crypto';
import type { Instant } from '../../model/index.ts';
import {
  type Asker,
  type CheckName,
  DECISION_WAITING,
  type Gate,
  type Hook,
  holds,
  isConsumed,
  isFresh,
  type Mode,
  type Standing,
} from './gate.ts';
import { matchesCall, settlesGates, type ToolCall } from './matcher.ts';

/** What an automatic check found. `failed`: it could not tell, which counts as `clear` and is said. */
export type CheckAnswer =
  | { readonly is: 'clear' }
  /** `detail` changes when what it looked at does. */
  | { readonly is: 'open'; readonly detail: string }
  | { readonly is: 'failed'; readonly why: string };

/** What is known of the turn, from one prompt to the next. */
export interface Turn {
  /** The state of things at each strict block so far, as `Judged.print` had it. */
  readonly blocks: readonly string[];
  /** Gates that the session was last told are open. */
  readonly open: readonly string[];
}

export interface Question extends Asker {
  readonly hook: Hook;
  readonly standings: readonly Standing[];
  readonly checks: ReadonlyMap<CheckName, CheckAnswer>;
  readonly turn: Turn;
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
  readonly call: ToolCall | null;
}

export interface Result {
  readonly gate_id: string;
  readonly hook: Hook;
  readonly satisfied: boolean;
  readonly mode: Mode;
  readonly message: string;
  readonly hint: string | null;
}

/** Why strict gates that are open did not block. */
export type LetGo = 'api-error' | 'nothing-changed' | 'blocked-enough';

export interface Verdict {
  readonly decision: 'allow' | 'block';
  /** Strict gates that are open, as `ID: text`, joined by `; `; empty when it allows. */
  readonly reason: string;
  readonly results: readonly Result[];
  /** Soft gates that are open, with what to do; strict ones that were let go; what was wrong on our side. */
  readonly warnings: readonly string[];
  readonly letGo: LetGo | null;
  /** Why it could not be told whether a gate is open: of those it was taken that they are not. Null: all could be told. */
  readonly undecided: string | null;
}

/** A verdict with what is to be done because of it. */
export interface Judged extends Verdict {
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
export function evaluate(question: Question): Judged {
  const { hook, standings, turn, stopHookActive, apiError, call } = question;
  const judged = standings
    .filter(({ gate }) => gate.hook === hook && concerns(gate, call))
    .map((standing) => judge(standing, question));
  const results = judged.map(({ result }) => result);
  const print = printOf(question, judged);
  const strict = results.filter(({ satisfied, mode }) => !satisfied && mode === 'strict');
  const letGo = ((): LetGo | null => {
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
    reason: blocks ? strict.map(textOf).join('; ') : '',
    results,
    warnings: [
      ...soft.map(textOf),
      ...(letGo === null ? [] : letGoWarnings(strict, letGo)),
      ...judged.flatMap(({ trouble }) => (trouble === null ? [] : [trouble])),
    ],
    letGo,
    undecided: null,
    print,
    passed: judged.filter(({ hasPassed }) => hasPassed).map(({ result }) => result.gate_id),
    consumed: apiError ? [] : judged.filter(({ isUsedUp }) => isUsedUp).map(({ result }) => result.gate_id),
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

function concerns({ matcher }: Gate, call: ToolCall | null): boolean {
  if (call === null) return true;
  return !settlesGates(call) && (matcher === null || matchesCall(matcher, call));
}

/** The verdict when a block that was meant can not be given: the bound is reached, or was not to be kept. */
export function withoutBlock(judged: Judged, letGo: LetGo): Judged {
  const strict = judged.results.filter(({ satisfied, mode }) => !satisfied && mode === 'strict');
  return {
    ...judged,
    decision: 'allow',
    reason: '',
    letGo,
    warnings: [...judged.warnings, ...letGoWarnings(strict, letGo)],
  };
}

function letGoWarnings(strict: readonly Result[], letGo: LetGo): readonly string[] {
  return strict.map((result) => `${textOf(result)} [let go: ${LET_GO[letGo]}]`);
}

const LET_GO = {
  'api-error': 'the harness can not go on',
  'nothing-changed': 'nothing changed since it blocked',
  'blocked-enough': `it blocked ${MOST_BLOCKS} times in this turn`,
} as const satisfies Record<LetGo, string>;

interface One {
  readonly result: Result;
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
function judge(standing: Standing, question: Question): One {
  const { gate, mark } = standing;
  const isMarked = holds(standing, question, question.now);
  const isWord = isMarked && !(mark?.by === 'auto' && gate.check !== null);
  const answer = isWord ? null : answerFor(gate.check, question);
  const isClosed = isWord || (answer !== null && answer.is !== 'open');
  const result: Result = {
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

function answerFor(check: CheckName | null, question: Question): CheckAnswer | null {
  if (check === null) return null;
  if (check !== 'decision-waiting') {
    return question.checks.get(check) ?? { is: 'failed', why: `${check} was not looked at` };
  }
  const waiting = question.standings.find(({ gate }) => gate.id === DECISION_WAITING);
  const isWaiting = waiting !== undefined && holds(waiting, question, question.now);
  return isWaiting ? { is: 'clear' } : { is: 'open', detail: '' };
}

function printOf({ hook, standings, also }: Question, judged: readonly One[]): string {
  const here = standings.filter(({ gate }) => gate.hook === hook);
  // What a check left is our own doing, and says nothing that `seen` does not.
  const marks = here.map(({ gate, mark }) => [gate, mark?.by === 'auto' ? null : mark]);
  const seen = judged.map(({ result, detail }) => [result.gate_id, result.satisfied, detail]);
  return createHash('sha256')
    .update(JSON.stringify([hook, also, marks, seen]))
    .digest('hex')
    .slice(0, 32);
}

function textOf({ gate_id, message, hint }: Result): string {
  return `${gate_id}: ${message}${hint === null ? '' : ` (${hint})`}`;
}
