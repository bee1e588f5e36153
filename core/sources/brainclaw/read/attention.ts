import type { Entity, Projection } from './projection.ts';
import type { Fields } from './record.ts';

/** Why an item asks for a person, by the names the reference counts them under (brainclaw contract 4). */
export type Why = 'pending_actions' | 'pending_human_candidates' | 'blocked_assignments' | 'stale_runs';

export interface AttentionItem {
  readonly why: Why;
  readonly entity: Entity;
}

export type Attention = Readonly<Record<Why | 'total', number>>;

/** What a status is when it is missing or no text. */
const UNSAID = {
  state: 'pending',
  candidate: 'pending',
  assignment: 'active',
  agent_run: 'active',
  plan: 'todo',
  claim: 'active',
  handoff: 'open',
} as const;

/** An item's status, with what one of its type has when it says none. */
export function statusOf({ item_type, payload }: Entity): string {
  const { status } = payload;
  if (typeof status === 'string' && status !== '') return status;
  return Object.hasOwn(UNSAID, item_type) ? UNSAID[item_type as keyof typeof UNSAID] : '';
}

const STALE: ReadonlySet<string> = new Set(['blocked', 'waiting_input', 'failed']);

const RULES: readonly (readonly [itemType: string, why: Why, asks: (entity: Entity) => boolean])[] = [
  ['state', 'pending_actions', (entity) => statusOf(entity) === 'pending'],
  [
    'candidate',
    'pending_human_candidates',
    (entity) => statusOf(entity) === 'pending' && sourceOf(entity.payload) !== 'auto',
  ],
  ['assignment', 'blocked_assignments', (entity) => statusOf(entity) === 'blocked'],
  ['agent_run', 'stale_runs', (entity) => STALE.has(statusOf(entity))],
];

/** Every item that asks for a person, as the reference computes it: failed assignments are none of them. */
export function attentionItems(projection: Projection): readonly AttentionItem[] {
  return RULES.flatMap(([itemType, why, asks]) =>
    [...projection.ofType(itemType).values()].filter(asks).map((entity) => ({ why, entity })),
  );
}

/** Why an item asks for a person; null: it does not. */
export function whyOf(entity: Entity): Why | null {
  return RULES.find(([itemType, , asks]) => itemType === entity.item_type && asks(entity))?.[1] ?? null;
}

export function attentionOf(projection: Projection): Attention {
  const counts = { pending_actions: 0, pending_human_candidates: 0, blocked_assignments: 0, stale_runs: 0 };
  for (const { why } of attentionItems(projection)) counts[why] += 1;
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
}

/** Who made a candidate. `session-end:` with the colon is the machine's own; `session-end-harvest` is an agent's. */
function sourceOf({ source, origin }: Fields): 'auto' | 'agent' | 'human' {
  if (source === 'auto' || source === 'agent' || source === 'human') return source;
  if (typeof origin !== 'string' || origin === '') return 'human';
  return origin.startsWith('session-end:') ? 'auto' : 'agent';
}
