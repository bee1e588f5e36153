import type { Why } from '../../../../core/sources/brainclaw/index.ts';
import type { Said } from './items.ts';

/** Each asks for a person, one kind after the other (brainclaw contract 4). */
const KINDS: readonly ((id: string, agent: string) => { readonly why: Why; readonly said: Omit<Said, 'agent'> })[] = [
  (id, agent) => ({
    why: 'pending_actions',
    said: created('state', `act_${id}`, {
      ...{ kind: 'approval', status: 'pending', agent, title: `Approve ${id}?`, prompt: 'Merge now? — 지금 병합 🌱' },
      ...{ assignment_id: `asg_${id}`, options: ['yes', 'no'] },
    }),
  }),
  (id, agent) => ({
    why: 'pending_human_candidates',
    said: created('candidate', `cnd_${id}`, {
      ...{ type: 'trap', text: `candidate ${id}`, author: agent, status: 'pending', source: 'human' },
    }),
  }),
  (id, agent) => ({
    why: 'blocked_assignments',
    said: created('assignment', `asg_${id}`, {
      ...{ agent, dispatcher_agent: 'claude-code', scope: 'src/', description: `work ${id}`, status: 'blocked' },
    }),
  }),
  (id, agent) => ({
    why: 'stale_runs',
    said: created('agent_run', `run_${id}`, {
      ...{ agent, assignment_id: `asg_${id}`, attempt_index: 1, transport: 'cli_spawn', status: 'failed' },
    }),
  }),
];

/** The item of this number that asks for a person, and for what. */
export function asking(number: number, agent: string): { readonly why: Why; readonly said: Said } {
  const kind = KINDS[number % KINDS.length];
  if (kind === undefined) throw new Error(`there is no kind for ${number}`);
  const { why, said } = kind(`q${number}`, agent);
  return { why, said: { agent, ...said } };
}

/** An open handoff with a snapshot of so many bytes, as real ones carry. */
export function handoff(number: number, from: string, to: string, bytes: number): Said {
  const text = `handoff ${number}: please go on`;
  const snapshot = { diff: 'x'.repeat(bytes) };
  return { agent: from, ...created('handoff', `hnd_s${number}`, { from, to, text, status: 'open', snapshot }) };
}

function created(item_type: string, item_id: string, more: Readonly<Record<string, unknown>>): Omit<Said, 'agent'> {
  const payload = { schema_version: 2, id: item_id, ...more };
  return { action: 'create', item_type, item_id, entity_rev: 1, payload };
}
