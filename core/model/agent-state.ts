import type { Instant } from './instant.ts';

/**
 * What an agent does, as far as somebody reports it. `why` is a reason of its reporter, such as `permission` or `drain-stalled`; it
 * is shown and never raises an `alert`. The Kijito contract reports nothing: `not-reported`.
 */
export type AgentState = AgentDetails &
  (
    | {
        /**
         * `working`: it is in a turn. `idle`: it waits for its next turn, and nothing is asked of a person. `live`: it runs, and
         * nobody reports what it does.
         */
        readonly is: 'working' | 'idle' | 'live';
        readonly why?: string;
      }
    | {
        /**
         * `waiting`: a person must act; `why` is a `WaitReason` or a text of the reporter. `stalled`: mail lies although the agent
         * runs. `gone`: the process ended.
         */
        readonly is: 'waiting' | 'stalled' | 'gone' | 'unknown';
        readonly why: string;
      }
  );

/** What is known of the agent beside its state. Each is absent where nobody reports it. */
export interface AgentDetails {
  /** When this state began. */
  readonly since?: Instant;
  /** Where it works, an absolute path. */
  readonly cwd?: string;
  readonly model?: string;
  /** The open decision that it waits for. Null: it waited for decisions, and each of them is closed. Absent: neither. */
  readonly decision?: number | null;
}

/** What a waiting agent needs from a person. `failed-...`: its model cannot be asked, and what follows says why. */
export type WaitReason = 'permission' | 'input' | 'decision' | 'dialog' | `failed-${string}`;

/** Returns whether the agent waits because its model cannot be asked. */
export const isFailure = (why: string): boolean => why.startsWith('failed-');

/**
 * Who reports what an agent does. `poll`: the source of its inbox, which is its daemon for a persona daemon. `session`: the files of
 * its agent program. `hook`: the hooks that its agent program runs.
 */
export type AgentReporter = 'poll' | 'session' | 'hook';

export const AGENT_STATE_NOT_REPORTED: AgentState = { is: 'unknown', why: 'not-reported' };

/** What each reporter said last; absent where it says nothing. */
export type AgentReports = { readonly [Key in AgentReporter]?: AgentState } & {
  /** The open decision for which the agent says that it waits. Null: each of those is closed. Absent: there was none. */
  readonly decision?: DecisionReport | null;
};

/** A decision that its agent waits for. */
export interface DecisionReport {
  readonly id: number;
  readonly since: Instant;
}

/** The closer to the agent, the better: its hooks run inside it, the source of its inbox may only see its mail. */
const REPORTERS: readonly AgentReporter[] = ['hook', 'session', 'poll'];

/**
 * Decides which report counts (docs/contract/agent-state.md). A process that ended does nothing. An agent that waits for a person is
 * hidden only by a report that it went on since; a decision that it waits for, by nothing but another wait. An agent whose model
 * cannot be asked looks idle to all others, and goes on when it works. Of the others the one
 * that began last counts; of equal ones that of the closest reporter. Folder and model that it leaves out come from the others.
 */
export function chooseAgentState(reports: AgentReports): AgentState {
  const chosen = addDetails(chooseReport(reports), reports);
  return reports.decision === null ? { ...chosen, decision: null } : chosen;
}

function addDetails(chosen: AgentState, reports: AgentReports): AgentState {
  const cwd = chosen.cwd ?? findDetail(reports, 'cwd');
  const model = chosen.model ?? findDetail(reports, 'model');
  if (cwd === chosen.cwd && model === chosen.model) return chosen;
  return { ...chosen, ...(cwd !== undefined && { cwd }), ...(model !== undefined && { model }) };
}

function findDetail(reports: AgentReports, detail: 'cwd' | 'model'): string | undefined {
  return REPORTERS.map((reporter) => reports[reporter]?.[detail]).find((value) => value !== undefined);
}

function chooseReport(reports: AgentReports): AgentState {
  const states = REPORTERS.flatMap((reporter) => reports[reporter] ?? []);
  const known = states.filter(({ is }) => is !== 'unknown');
  const first = (is: AgentState['is']): AgentState | undefined => known.find((state) => state.is === is);
  const waiting = known.find((state) => state.is === 'waiting' && !known.some((other) => hasGoneOn(state, other)));
  const newest = known.filter(({ is }) => is !== 'waiting').toSorted((a, b) => (b.since ?? 0) - (a.since ?? 0))[0];
  const { decision } = reports;
  const deciding = decision == null ? null : toDecisionState(decision);
  const gone = known.find(
    ({ is, since }) => is === 'gone' && !(decision != null && since !== undefined && decision.since > since),
  );
  return gone ?? waiting ?? deciding ?? first('stalled') ?? newest ?? states[0] ?? AGENT_STATE_NOT_REPORTED;
}

function toDecisionState({ id, since }: DecisionReport): AgentState {
  return { is: 'waiting', why: 'decision' satisfies WaitReason, since, decision: id };
}

function hasGoneOn(waiting: AgentState, { is, since = 0 }: AgentState): boolean {
  const goesOn = is === 'working' || (is === 'idle' && !isFailure(waiting.why ?? ''));
  return goesOn && since > (waiting.since ?? Number.POSITIVE_INFINITY);
}

/** Several reporters see the same wait a few seconds apart. */
const SAME_WAIT_MS = 15_000;

/**
 * Returns whether two waits of an agent that nobody saw go on in between are one (docs/contract/agent-state.md): the second began at
 * most 15 s after the first, or one of the beginnings is not known, which is null.
 */
export function isSameWait(before: Instant | null, since: Instant | null): boolean {
  return before === null || since === null || since - before <= SAME_WAIT_MS;
}
