import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPersona, createStatus } from '../../test/kit/status-sample.ts';
import type { MessageWire } from '../status/index.ts';
import { measureWidth } from './terminal-text.ts';
import { formatTop } from './top-text.ts';
import type { TopView } from './top-view.ts';

const VIEW: TopView = {
  ...{ columns: 80, rows: 12, hasColor: true, isGone: false, mode: 'list' },
  ...{ selected: null, filter: '', note: '', question: null },
};

const STATUS = createStatus(
  [
    createPersona({ unread: 0 }),
    createPersona({ id: 'bo', label: '日本語'.repeat(20) }),
    createPersona({ id: 'cy', label: 'cy\u001b[2J', urgent: 1 }),
    createPersona({ id: 'di', label: 'di', agent: 'waiting', agentReason: 'permission', unread: 0 }),
  ],
  6,
);
const message = (over: Partial<MessageWire>) =>
  ({ from: 'ed', subject: '', text: '', at: '2026-06-20T09:00:00.000000+00:00', ...over }) as MessageWire;
const NEWEST = {
  cy: message({ text: 'main\u001b]0;x\u0007 is red '.repeat(20) }),
  bo: message({ subject: 'よろしくお願いします'.repeat(9) }),
};

const STYLE = new RegExp(`${'\u001b'}\\[([\\d;]+)m`, 'g');
const stripStyles = (line: string): string => line.replaceAll(STYLE, '');
const draw = (over: Partial<TopView> = {}, status = STATUS): readonly string[] =>
  formatTop(status, NEWEST, { ...VIEW, ...over });
const read = (over: Partial<TopView> = {}, status = STATUS): readonly string[] => draw(over, status).map(stripStyles);

describe('the whole screen of top', () => {
  test('who needs a person most comes first, with what waits, and the newest message', () => {
    const [summary, , head, ...rows] = read();
    assert.equal(summary, '1 agent waits for you, 6+ unread, 1 up, 1 down');
    assert.match(head ?? '', /^ {2}STATE +UNREAD {2}PERSONA +AGE +NEWEST MESSAGE$/);
    assert.match(rows[0] ?? '', /^> UP +3 {2}cy\\u001b\[2J \(cy\) +1 h +1 urgent · ed: main\\u001b\]0;x/);
    assert.match(rows[1] ?? '', /^ {2}WAITS +0 {2}di +waits at a permission prompt$/);
    assert.match(rows[2] ?? '', /^ {2}UP +3 {2}日本語日本語日本語… +1 h +ed: よろ/);
    assert.match(rows[3] ?? '', /^ {2}UP +0 {2}ada *$/);
    assert.match(read().at(-1) ?? '', /^j\/k move .* q quit$/);
  });

  for (const [columns, rows] of [
    ...([
      [80, 24],
      [200, 50],
      [20, 5],
      [40, 2],
    ] as const),
  ])
    test(`no line is wider than ${columns} columns, and there are ${rows}; what is untrusted moves nothing`, () => {
      for (const mode of ['list', 'filter', 'help'] as const) {
        const lines = draw({ columns, rows, mode, note: mode === 'list' ? 'x'.repeat(300) : '' });
        assert.equal(lines.length, rows);
        for (const line of lines) {
          const text = stripStyles(line);
          assert.ok(measureWidth(text) <= columns, `${measureWidth(text)}: ${text}`);
          assert.doesNotMatch(text, /\p{Cc}/u);
        }
      }
    });

  test('without colour only attributes are used, and with it none beside the 16 of the terminal', () => {
    const codes = (hasColor: boolean) =>
      new Set(Array.from(draw({ hasColor }).join('').matchAll(STYLE), ([, code]) => code ?? ''));
    for (const code of codes(false)) assert.match(code, /^[0127](?:;[0127])*$/);
    assert.ok(codes(true).has('1;33'));
    for (const code of codes(true)) assert.match(code, /^(?:[0127]|3[1-6])(?:;(?:[0127]|3[1-6]))*$/);
  });

  test('the chosen persona stays on the screen, and stays chosen when the order changes', () => {
    const many = createStatus(
      Array.from({ length: 40 }, (_, n) => createPersona({ id: `p${n + 10}`, label: `p${n + 10}` })),
      40,
    );
    for (const selected of ['p10', 'p29', 'p49']) {
      const chosen = read({ selected }, many).filter((line) => line.startsWith('>'));
      assert.equal(chosen.length, 1);
      assert.match(chosen[0] ?? '', new RegExp(` ${selected}`));
    }
    assert.match(read({ selected: 'p29' }, many)[2] ?? '', /NEWEST MESSAGE \(20 of 40\)$/);
  });

  test('when the program does not answer, the first line says so and the list stays', () => {
    const [first, , , row] = read({ isGone: true });
    assert.equal(first, 'Hivebar does not answer; trying again');
    assert.match(row ?? '', /^> UP/);
  });

  test('a filter leaves names that hold it; hives that are down are named', () => {
    const hives = [{ source: 'far', address: 'https://far.example', state: 'DOWN', reason: 'refused' }] as const;
    const lines = read({ filter: 'CY' }, { ...STATUS, hives: [...hives] });
    assert.equal(lines[1], 'hive far https://far.example is DOWN: refused');
    assert.match(lines[4] ?? '', /^> UP .* cy/);
    assert.equal(lines[5], '');
    assert.equal(lines.at(-1), 'filter: CY  (Esc shows all)');
    assert.equal(read({ filter: 'nobody' })[2], 'no name holds this');
  });
});
