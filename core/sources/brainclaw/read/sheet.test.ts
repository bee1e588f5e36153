import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  brainclaw,
  EXPECTED,
  ended,
  LAST,
  line,
  openCold,
  type Store,
  viewed,
} from '../../../../test/kit/brainclaw-store.ts';
import { realFiles } from '../../../ports/index.ts';
import { createAgentMailReader } from './mail.ts';
import { type Seed, toProjectSheet } from './sheet.ts';
import { MOST_ROWS, type ProjectSheet, type ProjectSheetRow, type ProjectSheetSection } from './sheet-rows.ts';

const readMail = (store: Store) =>
  createAgentMailReader(realFiles, join(store.root, 'coordination', 'inbox'), (text) => text).read();
const sheetIn = (store: Store, seed: Seed | null = null): ProjectSheet =>
  toProjectSheet({ view: openCold(store), mail: readMail(store), seed });
const section = (sheet: ProjectSheet, id: ProjectSheetSection['id']): ProjectSheetSection => {
  const found = sheet.sections.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`no section ${id}`);
  return found;
};
const keysIn = (sheet: ProjectSheet, id: ProjectSheetSection['id']): readonly string[] =>
  section(sheet, id).rows.map(({ key }) => key);
const append = (store: Store, lines: string): void => appendFileSync(store.event(LAST), lines);
const SEED: Seed = {
  ...{ plans: 1, claims: 2, assignments: 3, runs: 4, actions: 5, agents: 6 },
  ...{ sessions: null, failedRuns: 8 },
};

describe('the sheet of a project', () => {
  test('has the numbers of the board, in plain values', () => {
    using store = brainclaw();
    const sheet = sheetIn(store);
    const { counts, attention_required, cursor } = EXPECTED.observer;
    assert.deepEqual(sheet.counts, { ...counts, agents: null, sessions: null });
    assert.deepEqual(sheet.attention, attention_required);
    assert.deepEqual([sheet.seq, sheet.remarks, sheet.seeded], [cursor.seq, ['skipped=5'], []]);
    assert.deepEqual(sheet.system, { plan: 38, handoff: 22, constraint: 1, decision: 2, trap: 2 });
    assert.deepEqual(JSON.parse(JSON.stringify(sheet)), sheet);
  });

  test('has its sections in the order of the protocol, attention first', () => {
    using store = brainclaw();
    assert.deepEqual(
      sheetIn(store).sections.map(({ id, total }) => [id, total]),
      [
        ...[
          ['attention', 20],
          ['in-progress', 43],
          ['recently-terminal', 16],
          ['sprints', 2],
          ['backlog', 18],
        ],
        ...[
          ['candidates', 16],
          ['activity', 90],
          ['actions', 4],
          ['handoffs', 22],
          ['traps', 2],
        ],
      ],
    );
  });

  test('says of an item what it asks, where that is more than its title', () => {
    using store = ended(brainclaw());
    append(
      store,
      line(410, { item_type: 'state', item_id: 'act_1', payload: { title: 'Now?', prompt: 'Merge\n지금 🌱' } }),
    );
    append(store, line(411, { item_type: 'state', item_id: 'act_2', payload: { title: 'Now?', prompt: 'Now?' } }));
    const { rows } = section(sheetIn(store), 'actions');
    assert.deepEqual(
      rows.slice(0, 2).map(({ title, text }) => [title, text]),
      [
        ['Now?', null],
        ['Now?', 'Merge 지금 🌱'],
      ],
    );
  });

  test('names for each item of attention why it is there, and no action that is not pending', () => {
    using store = ended(brainclaw());
    const before = keysIn(sheetIn(store), 'attention');
    append(store, line(399, { item_type: 'state', item_id: 'act_now', payload: { title: 'Now?', agent: 'codex' } }));
    append(
      store,
      ['in_progress', 'resolved', 'rejected', 'cancelled', 'expired']
        .map((status, i) => line(400 + i, { item_type: 'state', item_id: `act_${status}`, payload: { status } }))
        .join(''),
    );
    const sheet = sheetIn(store);
    const { rows, total } = section(sheet, 'attention');
    assert.equal(total, 21);
    assert.deepEqual(
      rows.filter(({ key }) => !before.includes(key)).map(({ key, why, title, agent }) => [key, why, title, agent]),
      [['state:act_now', 'pending_actions', 'Now?', 'codex']],
    );
    assert.ok(keysIn(sheet, 'actions').includes('state:act_in_progress'));
    const first = section(sheet, 'actions').rows.slice(0, 4);
    assert.deepEqual(
      [first[0]?.key, first.map(({ status }) => status)],
      [...['state:act_now', ['pending', 'pending', 'pending', 'expired']]],
    );
  });

  test('has only its own items in each section, the newest first', () => {
    using store = brainclaw();
    const sheet = sheetIn(store);
    const statuses = (id: ProjectSheetSection['id']): readonly string[] =>
      [...new Set(section(sheet, id).rows.map(({ itemType, status }) => `${itemType} ${status}`))].sort();
    assert.deepEqual(statuses('backlog'), ['plan todo']);
    assert.ok(statuses('in-progress').every((status) => !/done|completed|cancelled|failed|released|todo/.test(status)));
    assert.ok(
      statuses('recently-terminal').every((status) =>
        /^(assignment|agent_run) (completed|cancelled|failed|timed_out|expired|rerouted|interrupted)$/.test(status),
      ),
    );
    assert.deepEqual(statuses('candidates'), ['candidate pending']);
    const seqs = section(sheet, 'activity').rows.map(({ seq }) => seq ?? 0);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => b - a),
    );
    assert.deepEqual(keysIn(sheet, 'sprints'), ['sequence:seq_a1', 'sequence:seq_a0']);
    assert.equal(section(sheet, 'sprints').rows[0]?.title, 'sprint 12');
  });

  test('bounds its rows, and counts the rest', () => {
    using store = ended(brainclaw());
    append(store, Array.from({ length: 300 }, (_, i) => line(400 + i)).join(''));
    const { rows, rest, total } = section(sheetIn(store), 'backlog');
    assert.deepEqual([rows.length, rest + rows.length], [MOST_ROWS, total]);
    assert.equal(rows[0]?.key, 'plan:pln_699');
  });

  test('D2 attention of 300 items has the newest of every kind first, by need and time, and all are reachable', () => {
    using store = ended(brainclaw());
    const kinds = [
      ['state', 'pending'],
      ['candidate', 'pending'],
      ['assignment', 'blocked'],
      ['agent_run', 'failed'],
    ] as const;
    const lines = Array.from({ length: 300 }, (_, i) => {
      // The journal has 120 actions first, then 120 candidates, and a few of the others at its end.
      const [item_type, status] = kinds[i < 120 ? 0 : i < 240 ? 1 : i < 270 ? 2 : 3] ?? kinds[0];
      return line(400 + i, { item_type, item_id: `x_${i}`, payload: { status, text: `t${i}`, source: 'human' } });
    });
    append(store, lines.join(''));
    const view = openCold(store);
    const pages: ProjectSheetRow[][] = [];
    for (let from = 0; ; from += MOST_ROWS) {
      const sheet = toProjectSheet({ view, mail: null, seed: null, page: { section: 'attention', from } });
      const [{ rows, rest } = { rows: [], rest: 0 }] = sheet.sections;
      pages.push([...rows]);
      if (rest === 0) break;
    }
    const rows = pages.flat();
    const { attention } = toProjectSheet({ view, mail: null, seed: null });
    assert.deepEqual([pages.length, rows.length, new Set(rows.map(({ key }) => key)).size], [4, 320, 320]);
    assert.equal(attention?.total, 320);
    assert.deepEqual(section(toProjectSheet({ view, mail: null, seed: null }), 'attention').rows, pages[0]);
    const first = rows.slice(0, 8).map(({ why, seq }) => [why, seq]);
    const newest = (why: string, seq: number) => Array.from({ length: 2 }, (_, i) => [why, seq - i]);
    assert.deepEqual(first, [
      ...newest('pending_actions', 519),
      ...newest('blocked_assignments', 669),
      ...newest('stale_runs', 699),
      ...newest('pending_human_candidates', 639),
    ]);
    const order = ['pending_actions', 'blocked_assignments', 'stale_runs', 'pending_human_candidates'];
    const rest = rows.slice(8).map(({ why, seq }) => order.indexOf(why ?? '') * 10_000 - (seq ?? 0));
    assert.deepEqual(
      rest,
      rest.toSorted((a, b) => a - b),
    );
  });

  test('cuts texts, and leaves out what a terminal or a reader would act on', () => {
    using store = ended(brainclaw());
    const text = `one\u001b[31m\ntwo\u202e ${'é'.repeat(500)}`;
    append(store, line(400, { payload: { status: 'todo', text, assignee: 'co\u0007dex' } }));
    const [row] = section(sheetIn(store), 'backlog').rows;
    assert.deepEqual([row?.title.slice(0, 14), row?.title.length, row?.agent], ['one [31m two é', 200, 'co dex']);
  });

  test('says of every agent what waits for it, however the journal spells its name', () => {
    using store = ended(brainclaw());
    append(store, line(400, { item_type: 'handoff', item_id: 'hnd_x', payload: { to: 'Copilot', status: 'open' } }));
    append(store, line(401, { item_type: 'handoff', item_id: 'hnd_y', payload: { to: 'New One', status: 'open' } }));
    const agents = new Map(sheetIn(store).agents.map((agent) => [agent.agent, agent]));
    assert.deepEqual([...agents.keys()], ['claude-code', 'codex', 'github-copilot', 'hermes', 'new_one']);
    assert.deepEqual(agents.get('codex'), {
      ...{ agent: 'codex', pending: 2, actionable: 3, open_handoffs: 4, assignments: 3, actions: 2, skipped: 2 },
    });
    assert.equal(agents.get('github-copilot')?.open_handoffs, 5);
    assert.deepEqual(agents.get('new_one'), {
      ...{ agent: 'new_one', pending: 0, actionable: 0, open_handoffs: 1, assignments: 0, actions: 0, skipped: 0 },
    });
  });

  test('of a journal that is off: nothing is known, and that is not none', () => {
    using store = brainclaw();
    const sheet = toProjectSheet({ view: null, mail: readMail(store), seed: null });
    assert.deepEqual(new Set(Object.values(sheet.counts)), new Set([null]));
    assert.deepEqual(
      [sheet.remarks, sheet.seq, sheet.ts, sheet.attention, sheet.system, sheet.sections],
      [['journal-off'], null, null, null, null, []],
    );
    assert.deepEqual(
      sheet.agents.map(({ agent, pending, actions }) => [agent, pending, actions]),
      [
        ...[
          ['claude-code', 1, null],
          ['codex', 2, null],
          ['github-copilot', 1, null],
          ['hermes', 0, null],
        ],
      ],
    );
  });

  test('without mail: the agents are those of the journal, and their mail is not known', () => {
    using store = brainclaw();
    const { agents } = toProjectSheet({ view: openCold(store), mail: null, seed: null });
    assert.deepEqual(
      agents.find(({ agent }) => agent === 'codex'),
      {
        ...{
          agent: 'codex',
          pending: null,
          actionable: null,
          open_handoffs: 4,
          assignments: 3,
          actions: 2,
          skipped: null,
        },
      },
    );
  });

  test('takes of a seed what the journal cannot be trusted with, and says so', () => {
    using store = brainclaw();
    const off = toProjectSheet({ view: null, mail: null, seed: SEED });
    assert.deepEqual(off.counts, SEED);
    assert.deepEqual(off.seeded, ['plans', 'claims', 'assignments', 'runs', 'actions', 'failedRuns', 'agents']);
    const partial = toProjectSheet({ view: viewed(store.open({ until: 127 })), mail: null, seed: SEED });
    assert.deepEqual(partial.counts, { ...SEED, plans: EXPECTED.until[0]?.counts.plans });
    const all = sheetIn(store, SEED);
    assert.deepEqual(all.counts, { ...EXPECTED.observer.counts, agents: 6, sessions: null });
    assert.deepEqual(all.seeded, ['agents']);
  });
});
