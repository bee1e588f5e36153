import { type AgentState, type Instant, isFailure, parseJson, type WaitReason } from '../model/index.ts';
import type { HookTurn } from './harness/index.ts';

/** What the hooks of one session of an agent program know of what it does. It is plain data, which the hook stores in a file. */
export interface SessionReport {
  /** The agent program's own id of the session. */
  readonly session: string;
  readonly harness: string;
  /** The persona that stdin, the environment or the command line named; null: whoever announced the session. */
  readonly persona: string | null;
  readonly runner: SessionRunner;
  /** Where the session began; null when the agent program did not say. Untrusted, like `model`. */
  readonly cwd: string | null;
  readonly model: string | null;
  /** How it asks for permissions, in the word of the agent program. Absent: it did not say. */
  readonly permissionMode?: string;
  /** What its main agent does, apart from waits. */
  readonly is: 'working' | 'idle' | 'gone';
  readonly since: Instant;
  /** What its agents ask their person for, oldest first. */
  readonly waits: readonly SessionWait[];
}

/** The process of a session. */
export interface SessionRunner {
  readonly pid: number;
  /** Tells the process from a later one with the same pid; null where the system has no such key. */
  readonly startKey: string | null;
  /** A file that is locked while the session runs, where its process outlives it. */
  readonly lock: string | null;
}

interface SessionWait {
  /** The subagent that asks; null: the main agent. */
  readonly agent: string | null;
  readonly reason: WaitReason;
  readonly since: Instant;
  /** The tool that is asked about; null when unknown. Its end ends the wait. */
  readonly tool: string | null;
}

/** What the caller knows of a session beside the turn. */
export interface SessionFacts {
  readonly harness: string;
  readonly persona: string | null;
  /** Called only when the report does not have it yet, or a session begins. */
  readonly findRunner: () => SessionRunner;
}

/** More waits than any session has. */
const MOST_WAITS = 20;
/**
 * Tools that an agent calls at the same time announce themselves at once, before the first of them asks. One that begins later than
 * this after a question shows that the question was answered.
 */
const SAME_CALL_MS = 2000;

/** Tools whose permission prompt is a question of its own (sources/claude-code.md, section 8.1). */
const QUESTIONS: Readonly<Record<string, WaitReason>> = { AskUserQuestion: 'input', ExitPlanMode: 'decision' };
/** Returns whether the prompt of this tool is a question of its own, which yes or no do not answer. */
export const isQuestionTool = (tool: string): boolean => Object.hasOwn(QUESTIONS, tool);

/** What notifications of Claude Code ask for. All others ask for something else. */
const ASKS: Readonly<Record<string, WaitReason>> = { permission_prompt: 'permission' };

/**
 * Returns the report after a call of a hook. Returns `before` itself when the call changes nothing, so that nothing is written at
 * most tool calls. Null: the session has no id, so nothing can be reported.
 */
export function advanceSessionReport(
  before: SessionReport | null,
  turn: HookTurn,
  facts: SessionFacts,
  now: Instant,
): SessionReport | null {
  const { event, session, cwd, model } = turn;
  if (session === null) return null;
  const begins = before === null || before.is === 'gone' || (event === 'SessionStart' && turn.start !== 'compact');
  const base: SessionReport = begins
    ? {
        ...{ session, harness: facts.harness, persona: facts.persona, runner: facts.findRunner() },
        ...{ cwd: null, model: before?.model ?? null, is: 'idle', since: now, waits: [] },
      }
    : before;
  const state = advanceState(base, turn, now);
  const hasResumed = base.waits.length > 0 && state.waits.length === 0;
  const next = {
    ...base,
    ...state,
    since: hasResumed ? now : state.since,
    persona: facts.persona ?? base.persona,
    cwd: base.cwd ?? cwd, // commands of the agent change its folder later
    model: model ?? base.model,
    ...(turn.permissionMode === null ? {} : { permissionMode: turn.permissionMode }),
  };
  return before !== null && isSameReport(before, next) ? before : next;
}

/**
 * Returns the report after a person answered the permission prompt of this call elsewhere than in the agent program, which runs no hook
 * then: after an approval none runs until the tool is done.
 */
export function endPermissionWait(before: SessionReport, turn: HookTurn, now: Instant): SessionReport {
  const waits = endWait(before.waits, turn);
  if (waits === before.waits) return before;
  return { ...before, waits, since: waits.length === 0 ? now : before.since };
}

type ReportedState = Pick<SessionReport, 'is' | 'since' | 'waits'>;

function advanceState(before: SessionReport, turn: HookTurn, now: Instant): ReportedState {
  const { event, agent } = turn;
  const { waits } = before;
  const turnTo = (is: SessionReport['is'], left: SessionReport['waits']): ReportedState => ({
    is,
    since: before.is === is ? before.since : now,
    waits: left,
  });
  const same: ReportedState = before;
  switch (event) {
    case 'SessionStart':
      return turn.start === 'compact' ? same : turnTo('idle', []);
    case 'SessionEnd':
      return turnTo('gone', []);
    case 'PermissionRequest':
      return {
        ...same,
        waits: addWait(waits, { agent, reason: findReason(turn), since: now, tool: turn.tool?.name ?? null }),
      };
    case 'Notification':
      // An agent that cannot work is idle all the same, until somebody sets it to work again.
      if (turn.notification === 'idle_prompt')
        return turnTo(
          'idle',
          waits.filter((wait) => wait.agent !== null || isFailure(wait.reason)),
        );
      // It comes seconds after the question itself, and does not say which agent asks.
      if (!turn.isAsking || waits.length > 0) return same;
      return { ...same, waits: [{ agent, reason: findReason(turn), since: now, tool: null }] };
    case 'SubagentStop':
      return { ...same, waits: waits.filter((wait) => wait.agent !== agent || agent === null) };
    case 'PostToolUse':
      return agent === null ? turnTo('working', endWait(waits, turn)) : { ...same, waits: endWait(waits, turn) };
    case 'PreToolUse':
    case 'PreCompact':
      return agent === null
        ? turnTo('working', endOlderWaits(waits, agent, now))
        : { ...same, waits: endOlderWaits(waits, agent, now) };
    case 'UserPromptSubmit':
      return agent === null
        ? turnTo(
            'working',
            waits.filter((wait) => wait.agent !== null),
          )
        : same;
    case 'Stop':
    case 'StopFailure':
    case 'Interrupt': {
      if (agent !== null) return same;
      const left = waits.filter((wait) => wait.agent !== null);
      return turnTo('idle', isFailedTurn(turn) ? [...left, toFailedWait(waits, turn, now)] : left);
    }
  }
}

/** The reason of Cursor for a turn that its person broke off. */
const BROKEN_OFF = 'aborted';
const FAILURE_CHARS = 60;

/** Returns whether the turn ended because the model could not be asked, so that its agent does nothing until a person acts. */
export function isFailedTurn({ failure, agent }: Pick<HookTurn, 'failure' | 'agent'>): boolean {
  return failure !== null && failure !== BROKEN_OFF && agent === null;
}

/** The same failure again, without a prompt in between, is the same wait. */
function toFailedWait(waits: SessionReport['waits'], { failure }: HookTurn, now: Instant): SessionWait {
  const word = (failure ?? '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const reason = `failed-${word.slice(0, FAILURE_CHARS).replaceAll(/^-|-$/g, '') || 'unknown'}` as const;
  const before = waits.find((wait) => wait.agent === null && wait.reason === reason);
  return before ?? { agent: null, reason, since: now, tool: null };
}

function findReason({ tool, notification }: HookTurn): WaitReason {
  if (tool !== null) return QUESTIONS[tool.name] ?? 'permission';
  return ASKS[notification ?? ''] ?? 'input';
}

function addWait(waits: SessionReport['waits'], wait: SessionWait): SessionReport['waits'] {
  // A notification without a tool said the same before.
  const named = waits.filter((other) => other.tool !== null || other.agent !== wait.agent);
  return [...named, wait].slice(-MOST_WAITS);
}

/** The tool ran, so its question was answered. Other tools may run while the question is open. */
function endWait(waits: SessionReport['waits'], { agent, tool }: HookTurn): SessionReport['waits'] {
  const isMeant = (wait: SessionWait): boolean =>
    wait.agent === agent && (wait.tool === null || wait.tool === (tool?.name ?? null));
  const at = waits.findIndex(isMeant);
  return at < 0 ? waits : waits.toSpliced(at, 1);
}

function endOlderWaits(waits: SessionReport['waits'], agent: string | null, now: Instant): SessionReport['waits'] {
  const isSameCall = ({ reason, since }: SessionWait): boolean => !isFailure(reason) && now - since <= SAME_CALL_MS;
  const left = waits.filter((wait) => wait.agent !== agent || isSameCall(wait));
  return left.length === waits.length ? waits : left;
}

function isSameReport(a: SessionReport, b: SessionReport): boolean {
  return formatSessionReport(a) === formatSessionReport(b);
}

/** What a hook noted last of a persona without starting the program, and when. */
export interface NotedMoment {
  readonly moment: string;
  readonly at: Instant;
}

const WORKS: ReadonlySet<string> = new Set([
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'Continued',
]);

/**
 * Converts a report to what the session does.
 * @param noted the newest moment of its persona; null: none, or it may be of another session
 */
export function toSessionState({ is, since, waits, cwd, model }: SessionReport, noted: NotedMoment | null): AgentState {
  const details = { ...(cwd !== null && { cwd }), ...(model !== null && { model }) };
  const [wait] = waits;
  if (is === 'gone') return { is, why: 'session-ended', since, ...details };
  if (wait !== undefined) return { is: 'waiting', why: wait.reason, since: wait.since, ...details };
  const later = noted !== null && noted.at > since ? toNotedState(noted.moment) : null;
  return { is: later ?? is, since: later === null || later === is ? since : (noted?.at ?? since), ...details };
}

function toNotedState(moment: string): 'working' | 'idle' | null {
  if (moment === 'Stop') return 'idle';
  return WORKS.has(moment) ? 'working' : null;
}

/**
 * Combines what the sessions of one persona do. A session that asks its person comes first, the oldest question before the others.
 * Then the one whose state began last counts. They are gone only when all are. Null: none says anything.
 */
export function combineSessionStates(states: readonly AgentState[]): AgentState | null {
  const waiting = states.filter(({ is }) => is === 'waiting').toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0));
  const newestFirst = states.toSorted((a, b) => (b.since ?? 0) - (a.since ?? 0));
  return waiting[0] ?? newestFirst.find(({ is }) => is !== 'gone') ?? newestFirst[0] ?? null;
}

/** Formats a report as its file holds it. */
export function formatSessionReport(report: SessionReport): string {
  const { session, harness, persona, runner, cwd, model, permissionMode, is, since, waits } = report;
  const details = { cwd, model, ...(permissionMode === undefined ? {} : { permissionMode }) };
  return `${JSON.stringify({ schema: 1, session, harness, persona, ...runner, ...details, is, since, waits })}\n`;
}

/** Parses the file of a report. Null: it is none of ours, or of a later version. */
export function parseSessionReport(text: string): SessionReport | null {
  try {
    const { schema, pid, startKey, lock, ...report } = parseJson(text) as SessionReport &
      SessionRunner & { readonly schema: unknown };
    const isWhole =
      typeof report.session === 'string' && typeof report.since === 'number' && Array.isArray(report.waits);
    return schema === 1 && isWhole && Number.isInteger(pid) ? { ...report, runner: { pid, startKey, lock } } : null;
  } catch {
    return null; // a file that is no report of ours says nothing
  }
}
