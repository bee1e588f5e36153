import { formatIso } from '../../../model/index.ts';
import type { AttentionReason } from '../index.ts';

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

/** Creates records that ask for a person, one kind after the other (brainclaw contract 4). */
const KINDS: readonly ((
  id: string,
  agent: string,
) => { readonly why: AttentionReason; readonly record: Omit<SimulatedRecord, 'agent'> })[] = [
  (id, agent) => ({
    why: 'pending_actions',
    record: toCreateRecord('state', `act_${id}`, {
      ...{ kind: 'approval', status: 'pending', agent, title: `Approve ${id}?`, prompt: 'Merge now? — 지금 병합 🌱' },
      ...{ assignment_id: `asg_${id}`, options: ['yes', 'no'] },
    }),
  }),
  (id, agent) => ({
    why: 'pending_human_candidates',
    record: toCreateRecord('candidate', `cnd_${id}`, {
      ...{ type: 'trap', text: `candidate ${id}`, author: agent, status: 'pending', source: 'human' },
    }),
  }),
  (id, agent) => ({
    why: 'blocked_assignments',
    record: toCreateRecord('assignment', `asg_${id}`, {
      ...{ agent, dispatcher_agent: 'claude-code', scope: 'src/', description: `work ${id}`, status: 'blocked' },
    }),
  }),
  (id, agent) => ({
    why: 'stale_runs',
    record: toCreateRecord('agent_run', `run_${id}`, {
      ...{ agent, assignment_id: `asg_${id}`, attempt_index: 1, transport: 'cli_spawn', status: 'failed' },
    }),
  }),
];

/** Creates the item of this number that asks for a person, and the reason why. */
export function createAttentionRecord(
  number: number,
  agent: string,
): { readonly why: AttentionReason; readonly record: SimulatedRecord } {
  const kind = KINDS[number % KINDS.length];
  if (kind === undefined) throw new Error(`there is no kind for ${number}`);
  const { why, record } = kind(`q${number}`, agent);
  return { why, record: { agent, ...record } };
}

/** Creates an open handoff with a snapshot of `bytes` bytes, as real handoffs have. */
export function createHandoff(number: number, from: string, to: string, bytes: number): SimulatedRecord {
  const text = `handoff ${number}: please go on`;
  const snapshot = { diff: 'x'.repeat(bytes) };
  return { agent: from, ...toCreateRecord('handoff', `hnd_s${number}`, { from, to, text, status: 'open', snapshot }) };
}

function toCreateRecord(
  item_type: string,
  item_id: string,
  fields: Readonly<Record<string, unknown>>,
): Omit<SimulatedRecord, 'agent'> {
  const payload = { schema_version: 2, id: item_id, ...fields };
  return { action: 'create', item_type, item_id, entity_rev: 1, payload };
}

interface SimulatedMessage {
  /** Name of the agent's folder in `coordination/inbox`. */
  readonly agent: string;
  readonly name: string;
  readonly text: string;
}

interface SimulatedMail {
  readonly messages: readonly SimulatedMessage[];
  /** The counts that an inbox must show, by agent. */
  readonly inboxes: Readonly<Record<string, { readonly pending: number; readonly actionable: number }>>;
}

/** Gives every agent one to three unread messages, one read message that it owes an answer, and one archived message. */
export function simulateMail(story: SimulationStory): SimulatedMail {
  const agents = listAgents(story);
  const inboxes = agents.map((agent, index) => {
    const pending = 1 + ((index + story.seed) % 3);
    const statuses = [...Array.from({ length: pending }, () => 'pending'), 'read', 'archived'];
    const messages = statuses.map((status, number): SimulatedMessage => {
      const id = `msg_${String(index * 10 + number).padStart(16, '0')}`;
      const at = formatTimestamp(index * 10 + number + 1);
      const message = {
        ...{ schema_version: 2, id, from: agents[(index + 1) % agents.length] ?? agent, to: agent, type: 'info' },
        ...{ text: `message ${number} to ${agent} — 안녕 🌱`, requires_ack: status === 'read', status },
        ...{ created_at: at, updated_at: at, author: 'user', tags: ['simulated'] },
      };
      return { agent, name: `${id}.json`, text: `${JSON.stringify(message, null, 2)}\n` };
    });
    return { agent, pending, messages };
  });
  return {
    messages: inboxes.flatMap(({ messages }) => messages),
    inboxes: Object.fromEntries(inboxes.map(({ agent, pending }) => [agent, { pending, actionable: pending + 1 }])),
  };
}

/** Returns a whole number from 0 to `below`, exclusive. The same seed gives the same numbers (mulberry32). */
type Draw = (below: number) => number;

export function createDraw(seed: number): Draw {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const BEGIN = Date.UTC(2026, 0, 5, 8);
const EVERY_MS = 13_000;

/** Formats when the record of a seq was written, in the form that writers use. */
export const formatTimestamp = (seq: number): string => `${formatIso(BEGIN + seq * EVERY_MS).slice(0, 23)}Z`;

/** The contents of a made-up journal. The same story gives the same bytes. */
export interface SimulationStory {
  /** How many records the journal has in total; at least `countLeastRecords` of the story. */
  readonly records: number;
  readonly agents: number;
  /** How many items ask for a person at the end. */
  readonly attention: number;
  /** How many handoffs are open at the end. */
  readonly handoffs: number;
  /** Bytes of the snapshot in each handoff. */
  readonly handoffBytes: number;
  readonly seed: number;
  /** Size in bytes at which a new segment begins (brainclaw contract 2). */
  readonly roll: number;
}

export const STORY: SimulationStory = {
  records: 500,
  agents: 4,
  attention: 5,
  handoffs: 10,
  handoffBytes: 1000,
  seed: 1,
  roll: 10 * 1024 * 1024,
};

/** Counts two notes, and one record for each requested item. */
export const countLeastRecords = ({ attention, handoffs }: Pick<SimulationStory, 'attention' | 'handoffs'>): number =>
  2 + attention + handoffs;

const NAMED = ['claude-code', 'codex', 'github-copilot', 'hermes'] as const;

export const listAgents = ({ agents }: Pick<SimulationStory, 'agents'>): readonly string[] =>
  Array.from({ length: agents }, (_, index) => NAMED[index] ?? `agent-${index + 1}`);

export const formatProjectId = ({ seed }: Pick<SimulationStory, 'seed'>): string => `prj_sim${seed}`;
