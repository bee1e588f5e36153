import type { Draw } from './random.ts';

/** The fields of a record, without those that every record has. */
export interface SimulatedRecord {
  readonly agent: string;
  readonly action: string;
  readonly item_type: string;
  readonly item_id?: string;
  readonly entity_rev?: number;
  readonly summary?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** An item that changes repeatedly. */
export interface SimulatedItem {
  readonly type: 'plan' | 'claim' | 'assignment' | 'agent_run' | 'state' | 'candidate' | 'runtime_note' | 'trap';
  readonly id: string;
  readonly agent: string;
  /** 0: it was never written. */
  rev: number;
  /** '': it does not exist. */
  status: string;
}

/** The statuses that the simulated items go through. None of them asks for a person. */
const COURSES: Readonly<Record<SimulatedItem['type'], readonly string[]>> = {
  plan: ['todo', 'in_progress', 'blocked', 'in_progress', 'done'],
  claim: ['active', 'released'],
  assignment: ['created', 'offered', 'accepted', 'started', 'completed', 'failed'],
  agent_run: ['created', 'launching', 'running', 'completed', 'cancelled'],
  state: ['resolved', 'rejected', 'cancelled'],
  candidate: ['pending', ''],
  runtime_note: ['noted'],
  trap: ['active'],
};

/** How many of 100 items are of each type. */
const SHARES: readonly (readonly [SimulatedItem['type'], string, number])[] = [
  ...([['plan', 'pln', 25] as const, ['claim', 'clm', 20] as const, ['assignment', 'asg', 15] as const] as const),
  ...([['agent_run', 'run', 10] as const, ['state', 'act', 5] as const, ['candidate', 'cnd', 5] as const] as const),
  ...([['runtime_note', 'rtn', 15] as const, ['trap', 'trp', 5] as const] as const),
];

export function createItems(count: number, agents: readonly string[]): readonly SimulatedItem[] {
  const cycle = SHARES.flatMap(([type, prefix, share]) => Array.from({ length: share }, () => [type, prefix] as const));
  return Array.from({ length: count }, (_, index): SimulatedItem => {
    const [type, prefix] = cycle[(index * 37) % cycle.length] ?? ['plan', 'pln'];
    const id = `${prefix}_s${String(index).padStart(4, '0')}`;
    return { type, id, agent: agents[index % agents.length] ?? '', rev: 0, status: '' };
  });
}

/** Changes an item to its next status and returns the record. */
export function advanceItem(item: SimulatedItem, draw: Draw): SimulatedRecord {
  const course = COURSES[item.type];
  item.status = course[item.rev % course.length] ?? '';
  item.rev += 1;
  const { agent, type: item_type, id: item_id, rev: entity_rev, status } = item;
  const base = { agent, item_type, item_id, entity_rev };
  if (status === '') return { ...base, action: 'delete', summary: 'archived' };
  return { ...base, action: chooseAction(item), payload: createPayload(item, draw) };
}

function chooseAction({ type, rev, status }: SimulatedItem): string {
  if (type === 'claim') return status === 'active' ? 'claim' : 'release_claim';
  return rev === 1 ? 'create' : 'update';
}

/** Texts are mostly short and sometimes long, because half of the real plans have more than 2 KB. */
const TEXT = '할 일을 하나씩 한다. Do one thing after the other, and say what was done. '.repeat(60);
const drawText = (draw: Draw, most: number): string => TEXT.slice(0, 40 + draw(draw(4) === 0 ? most : most / 4));

function createPayload({ type, id, agent, status }: SimulatedItem, draw: Draw): Readonly<Record<string, unknown>> {
  const head = { schema_version: 2, id };
  switch (type) {
    case 'plan':
      return { ...head, text: drawText(draw, 3000), status, priority: 'medium', author: agent, tags: ['simulated'] };
    case 'claim':
      return { ...head, agent, scope: `src/m${draw(20)}`, description: drawText(draw, 800), status };
    case 'assignment':
      return {
        ...head,
        agent,
        dispatcher_agent: 'claude-code',
        scope: 'src/',
        description: drawText(draw, 2400),
        status,
      };
    case 'agent_run':
      return { ...head, agent, assignment_id: 'asg_s0000', attempt_index: 1, transport: 'cli_spawn', status };
    case 'state':
      return { ...head, agent, kind: 'approval', status, title: 'Approve?', prompt: drawText(draw, 400), options: [] };
    case 'candidate':
      return { ...head, type: 'trap', text: drawText(draw, 400), author: agent, status, origin: 'session-end:s1' };
    case 'runtime_note':
      return { ...head, agent, text: drawText(draw, 600), visibility: 'shared', note_type: 'observation' };
    case 'trap':
      return { ...head, text: drawText(draw, 1600), author: agent, status, severity: 'high', tags: [] };
  }
}
