import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersonaWire } from '../../app/status/index.ts';
import {
  describeAgent,
  describeRow,
  formatCounts,
  formatLastRecord,
  formatRemarks,
  formatSystem,
  getSectionName,
  joinAgents,
  listBreakdown,
  type Sheet,
  type SheetAgent,
  type SheetRow,
} from '../../ui-static/sheet.ts';

const NOTHING: Sheet = {
  ...{ remarks: [], seq: null, ts: null, attention: null, system: null, agents: [], sections: [], seeded: [] },
  counts: {
    ...{ plans: null, claims: null, assignments: null, runs: null },
    ...{ actions: null, failedRuns: null, agents: null, sessions: null },
  },
};

const ROW: SheetRow = {
  ...{ key: 'plan:pln_1', itemType: 'plan', id: 'pln_1', title: 'A title', text: null, status: 'todo', agent: null },
  ...{ from: null, ts: null, seq: null, why: null },
};

describe('what must be said beside the numbers of a board', () => {
  test('every remark is a sentence, and one that is not known is shown as it is', () => {
    const remarks = ['journal-off', 'registry-partial', 'from-checkpoint', 'incomplete', 'skipped=1', 'skipped=12'];
    const output = formatRemarks({ ...NOTHING, remarks: [...remarks, 'new\u001bremark'] });
    assert.deepEqual(output, [
      'The journal is off, so open items are unknown.',
      'The journal does not hold all claims, assignments, runs and actions, so these counts may be too low.',
      'Older parts of the journal are missing. A checkpoint replaces them and may not hold everything.',
      'Parts of the journal are missing or unreadable. There may be more than is shown.',
      '1 unreadable line of the journal is skipped.',
      '12 unreadable lines of the journal are skipped.',
      'new\\u001bremark',
    ]);
  });

  test('what was asked of brainclaw once is named, since it does not follow', () => {
    const output = formatRemarks({ ...NOTHING, remarks: ['journal-off'], seeded: ['plans', 'failedRuns'] });
    assert.equal(output[1], 'From brainclaw at the start of watching, not updated since: plans, failed runs.');
  });
});

describe('the numbers of a board', () => {
  test('one that is not known is a dash or left out, and never 0', () => {
    assert.deepEqual(
      listBreakdown(NOTHING).map(({ value }) => value),
      ['–', '–', '–', '–'],
    );
    assert.deepEqual([formatCounts(NOTHING), formatSystem(NOTHING), formatLastRecord(NOTHING, 0)], [null, null, null]);
    assert.equal(
      formatCounts({ ...NOTHING, counts: { ...NOTHING.counts, plans: 0, runs: 1 } }),
      'Open: 0 plans · 1 run',
    );
    assert.equal(
      formatSystem({ ...NOTHING, system: { trap: 2, plan: 1, constraint: 0 } }),
      'Knowledge: 2 traps · 1 plan',
    );
    assert.equal(formatLastRecord({ ...NOTHING, ts: 'soon' }, 0), null);
  });

  test('each word has its form', () => {
    const attention = {
      total: 4,
      pending_actions: 1,
      pending_human_candidates: 2,
      blocked_assignments: 0,
      stale_runs: 1,
    };
    assert.deepEqual(
      listBreakdown({ ...NOTHING, attention }).map(({ name, value }) => `${value} ${name}`),
      ['1 pending action', '2 candidates', '0 blocked assignments', '1 stalled run'],
    );
  });
});

describe('a row', () => {
  test('who wrote it and whom it is for; one name is told once', () => {
    const describePeople = (from: string | null, agent: string | null) => describeRow({ ...ROW, from, agent }).people;
    assert.deepEqual(
      [describePeople('a', 'b'), describePeople('a', 'a'), describePeople('a', null), describePeople(null, null)],
      ['a → b', 'a', 'a', null],
    );
  });

  test('a time in no known form is none; a name of a type or section that nobody knows is shown', () => {
    assert.equal(describeRow({ ...ROW, ts: 'yesterday' }).at, null);
    assert.equal(describeRow({ ...ROW, ts: '2026-06-20T09:00:00.000Z' }).at, Date.UTC(2026, 5, 20, 9));
    assert.deepEqual(
      [describeRow({ ...ROW, itemType: 'worm_hole' }).type, getSectionName('later')],
      ['worm hole', 'later'],
    );
    assert.deepEqual(
      [describeRow({ ...ROW, itemType: 'state' }).type, getSectionName('in-progress')],
      ['action', 'In progress'],
    );
  });

  test('without a title it has its id, and a record that is about nothing what was done', () => {
    assert.equal(describeRow({ ...ROW, title: '' }).title, 'pln_1');
    const silent = describeRow({ ...ROW, title: '', id: null, status: 'seq_repair' });
    assert.deepEqual([silent.title, silent.status], ['seq repair', '']);
  });

  test('text stays on one line, without control characters, and is cut', () => {
    const { title, text } = describeRow({ ...ROW, title: `a\n\tb\u0007 ${'x'.repeat(9000)}`, text: 'c\u001b[31m' });
    assert.match(title, /^a b\\u0007 x+ … \(\d+ more characters\)$/);
    assert.equal(text, 'c\\u001b[31m');
  });
});

describe('the agents of a board', () => {
  const agent = (name: string, over: Partial<SheetAgent> = {}): SheetAgent => ({
    ...{ agent: name, pending: 0, actionable: 0, open_handoffs: 0, assignments: 0, actions: 0, skipped: 0 },
    ...over,
  });
  const inbox = (id: string, hidden = false) => ({ id, label: id, hidden }) as PersonaWire;

  test('those of the board and those that only have an inbox, by name, without who is hidden', () => {
    const inboxes = [inbox('bc-lab-cy'), inbox('bc-lab-ada'), inbox('bc-lab-bo', true)];
    const agents = joinAgents('bc-lab', [agent('ada'), agent('bo'), agent('zed')], inboxes);
    assert.deepEqual(
      agents.map(({ persona, sheet }) => [persona?.id ?? null, sheet?.agent ?? null]),
      [
        ['bc-lab-ada', 'ada'],
        ['bc-lab-cy', null],
        [null, 'zed'],
      ],
    );
  });

  test('mail that is not known is a dash; work that is none is not told', () => {
    const words = describeAgent(
      agent('ada', { pending: null, actionable: null, open_handoffs: 1, actions: 2, skipped: null }),
    );
    assert.deepEqual(words, {
      pending: '– unread',
      actionable: '– to act on',
      work: '1 handoff, 2 actions',
      skipped: null,
    });
    assert.deepEqual(
      [describeAgent(agent('ada')).work, describeAgent(agent('bo', { skipped: 1 })).skipped],
      [null, '1 unreadable message file'],
    );
  });
});
