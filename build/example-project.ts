import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A made-up project for the pictures: what a team of agents has open on an ordinary afternoon. */

const MINUTE = 60_000;

type ExampleItem = readonly [
  minutesAgo: number,
  agent: string,
  item: string,
  payload: Readonly<Record<string, unknown>>,
];

const ITEMS: readonly ExampleItem[] = [
  [
    3000,
    'claude-code',
    'plan:pln_11',
    { text: 'Tide tables for all harbours', status: 'in_progress', assignee: 'claude-code' },
  ],
  [
    2900,
    'claude-code',
    'plan:pln_12',
    { text: 'Offline charts on the phone', status: 'in_progress', assignee: 'codex' },
  ],
  [2800, 'claude-code', 'plan:pln_13', { text: 'Alarms when the anchor drags', status: 'todo' }],
  [2700, 'claude-code', 'plan:pln_14', { text: 'Import of old logbooks', status: 'todo' }],
  [2600, 'claude-code', 'plan:pln_15', { text: 'One colour for all depths', status: 'todo' }],
  [2500, 'claude-code', 'sequence:seq_3', { name: 'Spring release', status: 'active' }],
  [2400, 'operator', 'decision:dec_2', { text: 'Depths are in metres, everywhere' }],
  [2300, 'codex', 'trap:trp_4', { text: 'The tide service counts hours from noon', status: 'active' }],
  [2200, 'codex', 'constraint:cst_1', { text: 'No network below deck' }],
  [400, 'codex', 'claim:clm_31', { agent: 'codex', scope: 'charts/tiles', status: 'active' }],
  [380, 'claude-code', 'claim:clm_32', { agent: 'claude-code', scope: 'tides/parser', status: 'active' }],
  [
    ...([300, 'claude-code', 'assignment:asg_41'] as const),
    {
      ...{ agent: 'codex', dispatcher_agent: 'claude-code', description: 'Draw tiles from the packed file' },
      status: 'started',
    },
  ],
  [
    ...([240, 'claude-code', 'assignment:asg_42'] as const),
    {
      agent: 'github-copilot',
      dispatcher_agent: 'claude-code',
      description: 'Review the tide parser',
      status: 'blocked',
    },
  ],
  [200, 'codex', 'agent_run:run_51', { agent: 'codex', title: 'Tiles, second attempt', status: 'running' }],
  [
    150,
    'github-copilot',
    'agent_run:run_52',
    { agent: 'github-copilot', title: 'Review, first attempt', status: 'failed' },
  ],
  [
    ...([120, 'codex', 'handoff:hnd_61'] as const),
    { from: 'codex', to: 'github-copilot', text: 'The packed format is written down in docs/tiles.md', status: 'open' },
  ],
  [
    ...([95, 'claude-code', 'handoff:hnd_62'] as const),
    {
      from: 'claude-code',
      to: 'codex',
      text: 'Names of harbours come from the chart, not from the tide table',
      status: 'open',
    },
  ],
  [
    ...([60, 'github-copilot', 'candidate:cnd_71'] as const),
    {
      type: 'trap',
      text: 'Summer time moves the tide by an hour in old tables',
      author: 'github-copilot',
      status: 'pending',
    },
  ],
  [
    ...([40, 'codex', 'candidate:cnd_72'] as const),
    { type: 'decision', text: 'Charts older than a year are drawn in grey', author: 'codex', status: 'pending' },
  ],
  [
    ...([9, 'codex', 'state:act_81'] as const),
    {
      ...{ agent: 'codex', kind: 'approval', title: 'Publish the new tiles?', status: 'pending' },
      prompt: 'All 412 charts are packed, 38 MB in one file. The old tiles would go.',
    },
  ],
];

const DONE: readonly ExampleItem[] = [
  [180, 'claude-code', 'assignment:asg_40', { agent: 'codex', description: 'Pack the charts', status: 'completed' }],
];

const MAIL: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  'claude-code': [
    { from: 'codex', type: 'reply', text: 'The charts are packed.', status: 'read', requires_ack: false },
  ],
  codex: [
    {
      from: 'claude-code',
      type: 'assign',
      text: 'Draw tiles from the packed file',
      status: 'read',
      requires_ack: true,
    },
    {
      from: 'github-copilot',
      type: 'info',
      text: 'Your format needs a version.',
      status: 'pending',
      requires_ack: false,
    },
  ],
  'github-copilot': [
    { from: 'claude-code', type: 'review', text: 'Review the tide parser', status: 'pending', requires_ack: true },
  ],
};

/** Writes the store of the project below `folder`, as of `now`. */
export function writeExampleProject(folder: string, now: number): void {
  const store = join(folder, '.brainclaw');
  const ago = (minutes: number): string => new Date(now - minutes * MINUTE).toISOString();
  mkdirSync(join(store, 'events'), { recursive: true });
  writeFileSync(join(store, 'config.yaml'), 'version: 1\nproject_id: prj_harbor\nstore:\n  journal:\n    mode: dual\n');
  const genesis = { action: 'journal_note', item_type: 'journal', payload: { kind: 'registry_genesis' } };
  const items = [...ITEMS, ...DONE].toSorted(([a], [b]) => b - a);
  const records = [
    { ts: ago(4000), agent: 'system', ...genesis },
    ...items.map(([minutes, agent, item, payload]) => {
      const [item_type, item_id] = item.split(':');
      const about = { action: 'create', item_type, item_id, entity_rev: 1 };
      return { ts: ago(minutes), agent, ...about, payload: { schema_version: 2, id: item_id, ...payload } };
    }),
    {
      ts: ago(4),
      agent: 'codex',
      action: 'run_progress',
      item_type: 'agent_run',
      item_id: 'run_51',
      summary: '230 of 412',
    },
  ];
  const lines = records.map(({ ts, agent, ...rest }, i) =>
    JSON.stringify({ v: 2, seq: i + 1, ts, writer: 'w_4242-0a0b0c', agent, ...rest }),
  );
  writeFileSync(join(store, 'events', 'seg-00000001.jsonl'), `\n${lines.join('\n')}\n`);
  for (const [agent, messages] of Object.entries(MAIL)) {
    const inbox = join(store, 'coordination', 'inbox', agent);
    mkdirSync(inbox, { recursive: true });
    for (const [i, message] of messages.entries()) {
      const id = `msg_${agent}${i}`;
      const at = { created_at: ago(50 - i), updated_at: ago(50 - i) };
      writeFileSync(
        join(inbox, `${id}.json`),
        JSON.stringify({ schema_version: 2, id, to: agent, author: message.from, tags: [], ...at, ...message }),
      );
    }
  }
}
