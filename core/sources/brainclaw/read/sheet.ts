import { type Attention, countAttention, getStatus } from './attention.ts';
import type { JournalView } from './journal.ts';
import type { AgentInbox } from './mail.ts';
import type { Entity, Projection } from './projection.ts';
import { isObject, type JsonFields } from './record.ts';
import {
  findRemarks,
  type ProjectSheet,
  type ProjectSheetAgent,
  type SheetCount,
  type SheetPage,
  toSections,
} from './sheet-rows.ts';

export interface SheetSources {
  /** Null: the journal is off. */
  readonly view: JournalView | null;
  /** Null: mail is switched off. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
  /** Null when nobody was asked, or nobody answered. */
  readonly seed: Seed | null;
  /** One page of one section. Absent: the first rows of each section. */
  readonly page?: SheetPage;
}

const COUNTS = ['plans', 'claims', 'assignments', 'runs', 'actions', 'failedRuns', 'agents', 'sessions'] as const;
/** The journal never holds these. */
const NEVER_JOURNALED: ReadonlySet<SheetCount> = new Set<SheetCount>(['agents', 'sessions']);
/** These are correct in a journal that holds every registry item, and too low in any other. */
const REGISTRY_COUNTS: ReadonlySet<SheetCount> = new Set<SheetCount>([
  ...(['claims', 'assignments', 'runs', 'actions', 'failedRuns'] as const),
]);
const KNOWLEDGE = ['plan', 'handoff', 'constraint', 'decision', 'trap'] as const;

/**
 * Builds the sheet of a project from what was read. It is pure. Numbers come from the journal wherever the journal can be
 * trusted.
 */
export function toProjectSheet({ view, mail, seed, page }: SheetSources): ProjectSheet {
  const projection = view?.replay.projection ?? null;
  const board = projection === null ? null : toBoardSummary(projection);
  const counts = toSheetCounts(board, seed);
  return {
    remarks: findRemarks(view),
    seq: view?.replay.cursor?.seq ?? null,
    ts: view?.replay.head?.record.ts ?? null,
    counts: Object.fromEntries(counts.map(({ name, value }) => [name, value])) as ProjectSheet['counts'],
    attention: board?.attention_required ?? null,
    system: board && Object.fromEntries(KNOWLEDGE.map((itemType) => [itemType, board.byType[itemType] ?? 0])),
    agents: toSheetAgents({ board, mail }),
    sections: projection === null ? [] : toSections(projection, page),
    seeded: counts.filter(({ isSeeded }) => isSeeded).map(({ name }) => name),
  };
}

interface SheetCountValue {
  readonly name: SheetCount;
  readonly value: number | null;
  readonly isSeeded: boolean;
}

function toSheetCounts(board: BoardSummary | null, seed: Seed | null): readonly SheetCountValue[] {
  return COUNTS.map((name) => {
    const read = board === null || NEVER_JOURNALED.has(name) ? null : board.counts[name];
    const isTrusted = read !== null && (board?.registryAuthoritative === true || !REGISTRY_COUNTS.has(name));
    const seededCount = isTrusted ? null : (seed?.[name] ?? null);
    return { name, value: seededCount ?? read, isSeeded: seededCount !== null };
  });
}

/** Names that brainclaw resolves before it uses them as directory names (brainclaw contract 5). */
const ALIASES: ReadonlyMap<string, string> = new Map([['copilot', 'github-copilot']]);

/** The inbox name of an agent, for any spelling of the agent in the journal (brainclaw contract 5). */
export function toInboxName(agent: string): string {
  const name = agent.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '_');
  return ALIASES.get(name) ?? name;
}

export interface AgentSources {
  /** Null: the journal is off. */
  readonly board: BoardSummary | null;
  /** Null when mail is switched off. A store without mail has no inboxes, so its counts are 0 and not unknown. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
}

/** All agents that have an inbox or something to do, sorted by name (brainclaw contract 9). */
export function toSheetAgents({ board, mail }: AgentSources): readonly ProjectSheetAgent[] {
  const handoffs = board === null ? null : sumByInbox(board.openHandoffsPerAddressee);
  const assignments = board === null ? null : sumByInbox(board.openAssignmentsPerAgent);
  const actions = board === null ? null : sumByInbox(board.pendingActionsPerAgent);
  const names = new Set([handoffs, assignments, actions, mail].flatMap((counts) => [...(counts?.keys() ?? [])]));
  const getCount = (counts: ReadonlyMap<string, number> | null, agent: string): number | null =>
    counts === null ? null : (counts.get(agent) ?? 0);
  return [...names].sort().map((agent) => {
    const inbox = mail?.get(agent);
    const nothing = mail === null ? null : 0;
    return {
      agent,
      pending: inbox?.pending ?? nothing,
      actionable: inbox?.actionable ?? nothing,
      open_handoffs: getCount(handoffs, agent),
      assignments: getCount(assignments, agent),
      actions: getCount(actions, agent),
      skipped: inbox?.bad.length ?? nothing,
    };
  });
}

/** Adds up the counts of different spellings of one agent. */
function sumByInbox(counts: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [agent, count] of Object.entries(counts)) {
    const name = toInboxName(agent);
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return sums;
}

/** The numbers of a project's board, by the keys of the reference (brainclaw contract 4). */
export interface BoardSummary {
  readonly entities: number;
  readonly byType: Readonly<Record<string, number>>;
  readonly registryAuthoritative: boolean;
  readonly counts: ProjectCounts;
  readonly attention_required: Attention;
  /** The id of the active sequence; null when there is no sequence. */
  readonly activeSequence: string | null;
  readonly boardSlots: Readonly<Record<BoardSlot, number>>;
  readonly openHandoffsPerAddressee: Readonly<Record<string, number>>;
  readonly openAssignmentsPerAgent: Readonly<Record<string, number>>;
  readonly pendingActionsPerAgent: Readonly<Record<string, number>>;
}

export interface ProjectCounts {
  /** Plans in progress and to do. */
  readonly plans: number;
  readonly claims: number;
  /** Includes failed and timed out assignments. */
  readonly assignments: number;
  readonly runs: number;
  /** Everything that needs a person, as the reference counts it. */
  readonly actions: number;
  /** The journal never holds these, so 0 means unknown. */
  readonly agents: 0;
  readonly sessions: 0;
  readonly failedRuns: number;
}

const SLOTS = {
  active_plans: 'plan',
  active_claims: 'claim',
  active_assignments: 'assignment',
  active_runs: 'agent_run',
  active_actions: 'state',
  open_handoffs: 'handoff',
  runtime_notes: 'runtime_note',
  known_traps: 'trap',
  pending_candidates: 'candidate',
} as const;
export type BoardSlot = keyof typeof SLOTS;

const OPEN_PLAN: ReadonlySet<string> = new Set(['in_progress', 'todo']);
const ENDED_RUN: ReadonlySet<string> = new Set(['completed', 'cancelled']);
const ENDED_ASSIGNMENT: ReadonlySet<string> = new Set(['completed', 'expired', 'rerouted', 'cancelled']);
/** The agent has nothing to do for these any more, though the board still counts them. */
const LOST_ASSIGNMENT: ReadonlySet<string> = new Set(['failed', 'timed_out']);

export function toBoardSummary(projection: Projection): BoardSummary {
  const attention = countAttention(projection);
  const count = (itemType: string, counts: (status: string) => boolean): number =>
    [...projection.getByType(itemType).values()].filter((entity) => counts(getStatus(entity))).length;
  const countPer = (itemType: string, field: string, counts: (status: string) => boolean): Record<string, number> =>
    tally(
      [...projection.getByType(itemType).values()].filter((entity) => counts(getStatus(entity))),
      field,
    );
  return {
    entities: projection.size,
    byType: Object.fromEntries(projection.types.map((itemType) => [itemType, projection.getByType(itemType).size])),
    registryAuthoritative: projection.registryAuthoritative,
    counts: {
      plans: count('plan', (status) => OPEN_PLAN.has(status)),
      claims: count('claim', (status) => status === 'active'),
      assignments: count('assignment', (status) => !ENDED_ASSIGNMENT.has(status)),
      runs: count('agent_run', (status) => !ENDED_RUN.has(status)),
      actions: attention.total,
      agents: 0,
      sessions: 0,
      failedRuns: attention.stale_runs,
    },
    attention_required: attention,
    activeSequence: findActiveSequence(projection),
    boardSlots: Object.fromEntries(
      Object.entries(SLOTS).map(([slot, itemType]) => [slot, projection.getByType(itemType).size]),
    ) as Record<BoardSlot, number>,
    openHandoffsPerAddressee: countPer('handoff', 'to', (status) => status === 'open'),
    openAssignmentsPerAgent: countPer(
      'assignment',
      'agent',
      (status) => !ENDED_ASSIGNMENT.has(status) && !LOST_ASSIGNMENT.has(status),
    ),
    pendingActionsPerAgent: countPer('state', 'agent', (status) => status === 'pending'),
  };
}

/** The last active sequence, otherwise the first one. */
function findActiveSequence(projection: Projection): string | null {
  const sequences = [...projection.getByType('sequence').values()];
  return (sequences.findLast((sequence) => getStatus(sequence) === 'active') ?? sequences[0])?.item_id ?? null;
}

/** Counts the entities per value of a field. Entities where it is missing or no text are left out. */
function tally(entities: readonly Entity[], field: string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { payload } of entities) {
    const value = payload[field];
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/**
 * The one answer of the project's server at activation, for numbers that the journal does not hold or cannot be trusted with yet:
 * `bclaw_context` of kind `board_summary` (brainclaw contract 9). A missing number is null, never 0.
 */
export interface Seed {
  /** Plans in progress and to do. */
  readonly plans: number | null;
  /** The active claims. */
  readonly claims: number | null;
  readonly assignments: number | null;
  readonly runs: number | null;
  /** Everything that needs a person, as the server counts it. */
  readonly actions: number | null;
  /** Registered agents and, in `sessions`, live sessions: the journal never holds these. */
  readonly agents: number | null;
  readonly sessions: number | null;
  readonly failedRuns: number | null;
}

/**
 * Parses the structured answer of `board_summary`. A value that is not a whole number from 0 on counts as missing. Null when all
 * numbers are missing, because then it is no summary.
 * Known servers do not report assignments and runs. If one does, they are read under the names that a board uses.
 */
export function parseSeed(answer: unknown): Seed | null {
  if (!isObject(answer)) return null;
  const plans = isObject(answer.plans) ? answer.plans : {};
  const attention = answer.attention_required;
  const seed: Seed = {
    plans: sumFields(plans, ['in_progress', 'todo']),
    claims: parseCount(answer.in_progress),
    assignments: parseCount(answer.assignments),
    runs: parseCount(answer.runs),
    actions: parseCount(isObject(attention) ? attention.total : attention),
    agents: parseCount(answer.agents),
    sessions: parseCount(answer.sessions),
    failedRuns: isObject(attention) ? parseCount(attention.stale_runs) : null,
  };
  return Object.values(seed).some((count) => count !== null) ? seed : null;
}

function sumFields(fields: JsonFields, names: readonly string[]): number | null {
  const counts = names.map((name) => parseCount(fields[name]));
  return counts.every((count) => count === null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

const MOST = 1_000_000_000;

function parseCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST ? value : null;
}
