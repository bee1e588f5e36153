import type { AttentionReason } from '../index.ts';
import {
  advanceItem,
  createAttentionRecord,
  createDraw,
  createHandoff,
  createItems,
  formatTimestamp,
  listAgents,
  type SimulatedItem,
  type SimulatedRecord,
  type SimulationStory,
} from './simulated-items.ts';

/** The text that a writer appends in one write (brainclaw contract 2). */
export interface Append {
  readonly segment: string;
  readonly text: string;
  readonly records: number;
}

/** The counts that a board must show for what was written so far. They come from the writer, not from reading the journal. */
export interface SimulationSummary {
  readonly records: number;
  readonly segments: number;
  readonly bytes: number;
  readonly entities: number;
  readonly registryAuthoritative: boolean;
  readonly attention: Readonly<Record<AttentionReason | 'total', number>>;
  readonly counts: {
    readonly plans: number;
    readonly claims: number;
    readonly assignments: number;
    readonly runs: number;
  };
  readonly openHandoffs: number;
}

/** Writes a made-up journal batch by batch. It holds only the items in memory, whatever the length of the journal. */
export interface Simulation {
  /** Returns the next batch; null when the story is complete. */
  next(): Append | null;
  /** Writes this many further records of everyday work beyond the story. */
  more(records: number): Append;
  /** Returns `meta.json` as it is after the last append. */
  meta(): string;
  readonly written: SimulationSummary;
}

/** As many items as the measured store has (brainclaw contract 6). */
const MOST_ITEMS = 450;
const MOST_BATCH = 5;
/** Shares in percent of the records that the story does not ask for. */
const SESSIONS = 26;
const PROGRESS = 6;

export function createSimulation(story: SimulationStory): Simulation {
  const draw = createDraw(story.seed);
  const agents = listAgents(story);
  const items = createItems(Math.min(MOST_ITEMS, Math.max(8, Math.floor(story.records / 4))), agents);
  const revs = new Map<string, number>();
  const attention: Record<AttentionReason, number> = {
    ...{ pending_actions: 0, pending_human_candidates: 0, blocked_assignments: 0, stale_runs: 0 },
  };
  const genesisAt = Math.max(1, Math.floor((story.records - 2 - story.attention - story.handoffs) / 10));
  const requested = story.attention + story.handoffs;
  let seq = 0;
  let requestedSoFar = 0;
  let asksSoFar = 0;
  let handoffs = 0;
  let isAuthoritative = false;
  let segment = '';
  let inSegment = 0;
  let segments = 0;
  let bytes = 0;

  const getAgent = (index: number): string => agents[index % agents.length] ?? '';

  const createFiller = (): SimulatedRecord => {
    const kind = draw(100);
    const agent = getAgent(draw(agents.length));
    const session = `sess_${draw(1000)}`;
    if (kind < SESSIONS) {
      const action = kind % 2 === 0 ? 'session_start' : 'session_end';
      return { agent, action, item_type: 'session', item_id: session, summary: 'a session' };
    }
    if (kind < SESSIONS + PROGRESS)
      return { agent, action: 'run_progress', item_type: 'agent_run', item_id: 'run_x', summary: `${draw(100)}%` };
    const item = items[draw(items.length)];
    if (item === undefined) throw new Error('there are no items');
    return advanceItem(item, draw);
  };

  /** Spreads the requested records over all records after the second note. */
  const nextRecord = (): SimulatedRecord => {
    const place = seq - 1; // counts from 0
    if (place === 0) return createNote('genesis');
    if (place === genesisAt) {
      isAuthoritative = true;
      return createNote('registry_genesis');
    }
    const after = place - genesisAt;
    const rest = story.records - 1 - genesisAt;
    if (place < genesisAt || place >= story.records || requestedSoFar >= Math.floor((after * requested) / rest))
      return createFiller();
    requestedSoFar += 1;
    if (handoffs < Math.floor((requestedSoFar * story.handoffs) / requested)) {
      handoffs += 1;
      return createHandoff(handoffs, getAgent(handoffs), getAgent(handoffs + 1), story.handoffBytes);
    }
    const { why, record } = createAttentionRecord(asksSoFar, getAgent(asksSoFar));
    asksSoFar += 1;
    attention[why] += 1;
    return record;
  };

  const nextLine = (): string => {
    seq += 1;
    const { agent, ...rest } = nextRecord();
    if (rest.item_id !== undefined && rest.entity_rev !== undefined) revs.set(rest.item_id, rest.entity_rev);
    return JSON.stringify({
      v: 2,
      seq,
      ts: formatTimestamp(seq),
      writer: formatWriter(agents.indexOf(agent)),
      agent,
      ...rest,
    });
  };

  const append = (records: number): Append => {
    if (segment === '' || inSegment >= story.roll) {
      segment = `seg-${String(seq + 1).padStart(8, '0')}.jsonl`;
      inSegment = 0;
      segments += 1;
    }
    const text = `\n${Array.from({ length: records }, nextLine).join('\n')}\n`;
    const length = Buffer.byteLength(text);
    inSegment += length;
    bytes += length;
    return { segment, text, records };
  };

  return {
    next: () => (seq >= story.records ? null : append(Math.min(1 + draw(MOST_BATCH), story.records - seq))),
    more: append,
    meta: () =>
      `${JSON.stringify({ next_seq: seq + 1, active_segment: segment, entity_revs: Object.fromEntries(revs) })}\n`,
    get written() {
      const total = Object.values(attention).reduce((sum, count) => sum + count, 0);
      const existing = items.filter(({ status }) => status !== '').length;
      return {
        ...{ records: seq, segments, bytes, entities: existing + total + handoffs },
        ...{ registryAuthoritative: isAuthoritative, attention: { total, ...attention }, openHandoffs: handoffs },
        counts: countOpen(items, attention),
      };
    },
  };
}

const OPEN: Readonly<Record<'plan' | 'claim' | 'assignment' | 'agent_run', readonly string[]>> = {
  plan: ['todo', 'in_progress'],
  claim: ['active'],
  assignment: ['created', 'offered', 'accepted', 'started', 'failed'],
  agent_run: ['created', 'launching', 'running'],
};

function countOpen(
  items: readonly SimulatedItem[],
  attention: Readonly<Record<AttentionReason, number>>,
): SimulationSummary['counts'] {
  const open = (type: keyof typeof OPEN): number =>
    items.filter((item) => item.type === type && OPEN[type].includes(item.status)).length;
  return {
    ...{ plans: open('plan'), claims: open('claim') },
    assignments: open('assignment') + attention.blocked_assignments,
    runs: open('agent_run') + attention.stale_runs,
  };
}

function createNote(kind: 'genesis' | 'registry_genesis'): SimulatedRecord {
  return { agent: 'system', action: 'journal_note', item_type: 'journal', payload: { kind } };
}

/** Formats a writer id. Each agent is a separate process, and the notes come from another one. */
const formatWriter = (index: number): string => `w_${40_002 + index}-${(0xab_cd_00 + index + 1).toString(16)}`;
