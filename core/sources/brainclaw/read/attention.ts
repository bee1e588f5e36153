import type { Entity, Projection } from './projection.ts';
import type { JsonFields } from './record.ts';

/** Why an item needs a person, by the names under which the reference counts them (brainclaw contract 4). */
export type AttentionReason = 'pending_actions' | 'pending_human_candidates' | 'blocked_assignments' | 'stale_runs';

export interface AttentionItem {
  readonly why: AttentionReason;
  readonly entity: Entity;
}

export type Attention = Readonly<Record<AttentionReason | 'total', number>>;

/** The status of an item whose own is missing or no text. */
const DEFAULT_STATUS = {
  state: 'pending',
  candidate: 'pending',
  assignment: 'active',
  agent_run: 'active',
  plan: 'todo',
  claim: 'active',
  handoff: 'open',
} as const;

/** An item's status, or the default of its type when it has none. */
export function getStatus({ item_type, payload }: Entity): string {
  const { status } = payload;
  if (typeof status === 'string' && status !== '') return status;
  return Object.hasOwn(DEFAULT_STATUS, item_type) ? DEFAULT_STATUS[item_type as keyof typeof DEFAULT_STATUS] : '';
}

const STALE: ReadonlySet<string> = new Set(['blocked', 'waiting_input', 'failed']);

const RULES: readonly (readonly [itemType: string, why: AttentionReason, asks: (entity: Entity) => boolean])[] = [
  ['state', 'pending_actions', (entity) => getStatus(entity) === 'pending'],
  [
    'candidate',
    'pending_human_candidates',
    (entity) => getStatus(entity) === 'pending' && findCandidateSource(entity.payload) !== 'auto',
  ],
  ['assignment', 'blocked_assignments', (entity) => getStatus(entity) === 'blocked'],
  ['agent_run', 'stale_runs', (entity) => STALE.has(getStatus(entity))],
];

/** Every item that needs a person, as the reference computes it. Failed assignments do not count. */
export function findAttentionItems(projection: Projection): readonly AttentionItem[] {
  return RULES.flatMap(([itemType, why, asks]) =>
    [...projection.getByType(itemType).values()].filter(asks).map((entity) => ({ why, entity })),
  );
}

/** Why an item needs a person; null when it does not. */
export function findAttentionReason(entity: Entity): AttentionReason | null {
  return RULES.find(([itemType, , asks]) => itemType === entity.item_type && asks(entity))?.[1] ?? null;
}

export function countAttention(projection: Projection): Attention {
  const counts = { pending_actions: 0, pending_human_candidates: 0, blocked_assignments: 0, stale_runs: 0 };
  for (const { why } of findAttentionItems(projection)) counts[why] += 1;
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
}

/** Who made a candidate. `session-end:` with the colon was written by the machine; `session-end-harvest` by an agent. */
function findCandidateSource({ source, origin }: JsonFields): 'auto' | 'agent' | 'human' {
  if (source === 'auto' || source === 'agent' || source === 'human') return source;
  if (typeof origin !== 'string' || origin === '') return 'human';
  return origin.startsWith('session-end:') ? 'auto' : 'agent';
}

/** The sections of a board, by the names of the reference (observer protocol 6.2). */
export type BoardSection =
  | 'attention'
  | 'in-progress'
  | 'sprints'
  | 'backlog'
  | 'system'
  | 'agents'
  | 'candidates'
  | 'activity'
  | 'actions'
  | 'handoffs'
  | 'traps';

const KNOWLEDGE: readonly BoardSection[] = ['system', 'traps'];

const BY_TYPE: ReadonlyMap<string, readonly BoardSection[]> = new Map<string, readonly BoardSection[]>([
  ['plan', ['in-progress', 'sprints', 'backlog', 'attention', 'system']],
  ['claim', ['in-progress', 'agents']],
  ['assignment', ['in-progress', 'attention']],
  ['agent_run', ['in-progress', 'attention', 'agents']],
  ['candidate', ['attention', 'candidates']],
  ['state', ['attention', 'actions']],
  ['constraint', KNOWLEDGE],
  ['decision', KNOWLEDGE],
  ['trap', KNOWLEDGE],
  ['handoff', ['activity', 'handoffs', 'system']],
  ['sequence', ['sprints']],
]);

/** The sections that change with an item of this type (brainclaw contract 4). Empty for a type that no section shows. */
export const findSections = (itemType: string): readonly BoardSection[] => BY_TYPE.get(itemType) ?? [];
