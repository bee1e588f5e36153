import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenDecision } from '../../core/board/index.ts';
import { exactly } from '../../core/model/index.ts';
import {
  createDecision,
  findAction,
  MINUTE,
  NOW,
  persona,
  snapshot,
  text,
  trayModel,
} from '../../test/kit/menu-samples.ts';
import { buildFlatMenu, getDialect } from './menu-object.ts';
import type { MenuEntry } from './model.ts';

const ada = persona('ada', { label: 'Ada' });

const createMenu = (...decisions: OpenDecision[]): readonly MenuEntry[] =>
  trayModel(snapshot([ada, persona('bo')], { decisions })).menu;

/** Everything above the summary. */
function listTopRows(...decisions: OpenDecision[]): string[] {
  const all = text(createMenu(...decisions));
  return all.slice(
    0,
    all.findIndex((row) => /^\d+ questions? for you$|^No unread/.test(row)),
  );
}

describe('what is to be decided', () => {
  test('stands at the very top, with what one has to know, an entry an option, and the page', () => {
    const context = '\n  The build is green.\nTwo reviews are missing.';
    assert.deepEqual(
      listTopRows(
        createDecision(7, { prompt: 'Merge the branch?', context, fallback: 'no', expires: NOW + 23 * 60 * MINUTE }),
      ),
      [
        'Ada asks: Merge the branch?',
        '  The build is green.',
        '  Merge it now',
        '  Wait for the build (chosen by itself in 23 h)',
        '  ---',
        '  Answer on the page',
      ],
    );
    assert.deepEqual(listTopRows(), []);
  });

  test('an option answers with its id, the page is that of who asks', () => {
    const menu = createMenu(createDecision(7));
    assert.deepEqual(findAction(menu, 'Merge it now'), ['decide', { decision: 7, select: 'yes' }]);
    assert.deepEqual(findAction(menu, 'Wait for the build'), ['decide', { decision: 7, select: 'no' }]);
    assert.deepEqual(findAction(menu, 'Answer on the page'), ['page', { persona: 'ada' }]);
  });

  test('who is not watched is called as it calls itself, and has no page of its own', () => {
    const menu = createMenu(createDecision(7, { persona: 'ghost', options: [], freeText: true }));
    assert.deepEqual(text(menu).slice(0, 3), ['ghost asks: Question 7?', '  ---', '  Answer on the page']);
    assert.deepEqual(findAction(menu, 'Answer on the page'), ['page', {}]);
  });

  test('high urgency and who stands still come first, then the oldest; five are in sight', () => {
    const rows = listTopRows(
      createDecision(1, { urgency: 'low' }),
      createDecision(2),
      createDecision(3, { created: NOW - 60 * MINUTE }),
      createDecision(4, { blocking: true }),
      createDecision(5, { urgency: 'high', created: NOW }),
      createDecision(6),
      createDecision(8),
    ).filter((row) => !row.startsWith(' '));
    assert.deepEqual(rows, [...[4, 5, 3, 1, 2].map((id) => `Ada asks: Question ${id}?`), '2 more questions for you']);
    assert.deepEqual(
      findAction(createMenu(...Array.from({ length: 9 }, (_, i) => createDecision(i + 1))), '4 more questions for you'),
      ['page', {}],
    );
  });

  test('where there are no submenus a row opens the page, and the fullest menu has room for all of them', () => {
    const menu = createMenu(...Array.from({ length: 9 }, (_, i) => createDecision(i + 1)));
    const flat = buildFlatMenu(menu, getDialect('darwin'));
    assert.equal(flat.dropped, 0);
    assert.deepEqual(
      flat.slots.slice(0, 7).map(({ title }) => title),
      [...[1, 2, 3, 4, 5].map((id) => `Ada asks: Question ${id}?`), '4 more questions for you', '9 questions for you'],
    );
    assert.deepEqual(flat.actions.get(1), { name: 'page', params: { persona: 'ada' } });
    assert.deepEqual(flat.actions.get(6), { name: 'page', params: {} });
  });

  test('words of others are one short plain line each', () => {
    const hostile = createDecision(7, {
      persona: 'eve\u202e\n',
      prompt: `\u001b[31mred\u001b[0m\n${'A'.repeat(2000)}`,
      context: `\u200b\n${'c'.repeat(8000)}`,
      options: [
        { id: 'x', short: '', label: '\u202etxt.exe' },
        { id: 'y', short: '', label: '\u200b' },
      ],
    });
    const [row = '', context = '', ...options] = listTopRows(hostile);
    assert.match(row, /^eve\\u202e\\u000a asks: red A+…$/);
    assert.ok(row.length < 87 && context.length < 85, `${row} ${context}`);
    assert.match(context, /^ {2}c+…$/);
    assert.deepEqual(options.slice(0, 2), ['  txt.exe', '  y']);
  });

  test('no two entries share a key, whatever who asks is called', () => {
    const keys = (menu: readonly MenuEntry[]): string[] =>
      menu.flatMap((entry) => [entry.key, ...(entry.is === 'submenu' ? keys(entry.entries) : [])]);
    const names = ['decision 1', 'decision 1 option yes', 'page', 'summary'];
    const decisions = names.map((name, i) => createDecision(i + 1, { persona: name, context: 'so' }));
    const all = keys(
      trayModel(
        snapshot(
          names.map((name) => persona(name)),
          { decisions },
        ),
      ).menu,
    );
    assert.equal(new Set(all).size, all.length);
  });

  test('its key stays when another goes, so that a panel changes nothing else in place', () => {
    const findKey = (menu: readonly MenuEntry[]): string | undefined =>
      menu.find((entry) => 'label' in entry && entry.label === 'Ada asks: Question 2?')?.key;
    assert.equal(findKey(createMenu(createDecision(1), createDecision(2))), findKey(createMenu(createDecision(2))));
  });
});

describe('while something is to be decided', () => {
  const model = (...decisions: OpenDecision[]) =>
    trayModel(snapshot([persona('ada', { unread: exactly(3) })], { decisions }));

  test('the tooltip counts it, the icon asks, and so does the number beside it', () => {
    const { summary, icon, count } = model(createDecision(1), createDecision(2));
    assert.deepEqual([summary, icon, count], ['2 questions for you, 3 unread', { state: 'up', badge: 'ask' }, '! 3']);
    assert.deepEqual(trayModel(snapshot([ada], { decisions: [createDecision(1)] })).count, '!');
    assert.deepEqual([model().icon.badge, model().count], ['3', '3']);
  });

  test('the host draws attention to it only for what is urgent, or holds an agent up', () => {
    assert.equal(model(createDecision(1)).attention, false);
    assert.equal(model(createDecision(1, { urgency: 'low' })).attention, false);
    assert.equal(model(createDecision(1), createDecision(2, { urgency: 'high' })).attention, true);
    assert.equal(model(createDecision(1, { blocking: true })).attention, true);
    assert.equal(model().attention, false);
  });
});

describe('what only this machine knows of a persona', () => {
  const gate = (id: string, mode: 'strict' | 'soft' = 'strict', description = '') => ({
    id,
    hook: 'Stop',
    mode,
    description,
  });
  const rowsWith = (...local: Parameters<typeof persona>[1][]): string[] =>
    text(trayModel(snapshot([persona('ada', local[0])])).menu).slice(2);
  const NONE = [0, 0, 0, 0, 0] as const;

  test('its row says what holds it, and behind it why; a gate that only warns is behind it alone', () => {
    const [row, first, second, next] = rowsWith({
      unread: exactly(2),
      muted: { is: 'forever' },
      pending: NONE,
      gates: [gate('ship', 'strict', 'not\nshipped'), gate('docs', 'soft')],
    });
    assert.equal(row, 'ada - 2 unread, blocked at Stop by ship, muted');
    assert.deepEqual(
      [first, second, next],
      ['  Blocked at Stop by ship · not shipped', '  Warned at Stop by docs', '  No messages yet'],
    );
    const soft = rowsWith({ pending: NONE, gates: [gate('docs', 'soft')] });
    assert.equal(soft[0], 'ada - no unread');
  });

  test('of many gates the row names one, and a bounded number has a line', () => {
    const gates = Array.from({ length: 30 }, (_, i) => gate(`g${i}`));
    const rows = rowsWith({ pending: NONE, gates });
    assert.equal(rows[0], 'ada - no unread, blocked at Stop by g0 and 29 more');
    assert.deepEqual(rows.slice(5, 8), ['  Blocked at Stop by g4', '  25 more gates', '  No messages yet']);
  });

  test('what waits is told by priority only where not all of it is normal', () => {
    const waiting = (...pending: [number, number, number, number, number]): string[] =>
      rowsWith({ pending, gates: [] }).filter((row) => row.startsWith('  Unread'));
    assert.deepEqual(waiting(0, 0, 7, 0, 0), []);
    assert.deepEqual(waiting(0, 0, 0, 0, 0), []);
    assert.deepEqual(waiting(1, 0, 7, 0, 2), ['  Unread: 1 critical, 7 normal, 2 bulk']);
    assert.deepEqual(waiting(0, 3, 0, 1, 0), ['  Unread: 3 high, 1 low']);
    assert.deepEqual(waiting(0, 0, 1000, 1, 0), ['  Unread: 1000+ normal, 1 low'], 'as many or more');
  });

  test('words of others are one short plain line', () => {
    const [row = '', note = ''] = rowsWith({
      pending: NONE,
      gates: [gate(`\u202e${'g'.repeat(500)}`, 'strict', 'd'.repeat(5000))],
    });
    assert.match(row, /^ada - no unread, blocked at Stop by \\u202eg+…$/);
    assert.ok(row.length < 70 && note.length < 150, `${row} ${note}`);
  });
});
