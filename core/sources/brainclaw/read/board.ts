import { type Attention, countAttention, getStatus } from './attention.ts';
import type { Entity, Projection } from './projection.ts';

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
