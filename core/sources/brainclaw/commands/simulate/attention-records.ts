import type { AttentionReason } from '../../index.ts';
import type { SimulatedRecord } from './items.ts';

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
