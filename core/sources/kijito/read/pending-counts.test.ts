import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, UNKNOWN } from '../../../model/index.ts';
import { createListDefects, parseDirectory, parsePendingCounts } from './index.ts';
import { parseAnswer } from './page.ts';

const READING = { from: () => 'http://h/api', scope: { is: 'source', key: 'kijito' } } as const;
const levels = (value: unknown) =>
  parsePendingCounts(parseAnswer(Buffer.from(JSON.stringify(value)), READING), 7, READING);
const roll = (value: unknown) => parseDirectory(parseAnswer(Buffer.from(JSON.stringify(value)), READING), READING);
const names = (value: unknown) => [...roll(value).keys()];

test('the pending list gives counts by address, and its cursor when the server long-polls', () => {
  const result = [
    { persona: 'ada', unread: 3, unread_urgent: 1 },
    { persona: 'Ada', unread: 1, unread_urgent: 0 },
  ];
  assert.deepEqual(levels({ result, cursor: 'c1' }), {
    at: 7,
    cursor: 'c1',
    byAddress: new Map([
      ['ada', { unread: exactly(3), urgent: exactly(1) }],
      ['Ada', { unread: exactly(1), urgent: exactly(0) }],
    ]),
  });
});

test('without a cursor the server does not long-poll', () => {
  for (const cursor of [undefined, null, '']) assert.equal(levels({ result: [], cursor }).cursor, null);
});

test('a server that does not count urgent mail leaves it unknown', () => {
  assert.deepEqual(levels({ result: [{ persona: 'ada', unread: 3 }] }).byAddress.get('ada')?.urgent, UNKNOWN);
});

for (const value of [[], { result: {} }, { result: [null, {}] }, { result: [], cursor: 5 }]) {
  test(`${JSON.stringify(value)} is no pending list`, () => assert.throws(() => levels(value), { code: 'shape' }));
}

/** What is reported of a list, and what is read of it all the same. */
function withDefects(result: readonly unknown[]) {
  const defects: string[] = [];
  const { byAddress } = parsePendingCounts(
    parseAnswer(Buffer.from(JSON.stringify({ result })), READING),
    7,
    READING,
    (at, defect) => defects.push(`${at}: ${defect}`),
  );
  return { byAddress: Object.fromEntries(byAddress), defects };
}

const BO = { persona: 'bo', unread: 2, unread_urgent: 1 };
const BO_LEVEL = { unread: exactly(2), urgent: exactly(1) };

for (const [bad, defect] of [
  ['', 'it is an empty string'],
  ['ada', 'it is a string'],
  [null, 'it is null'],
  [5, 'it is a number'],
  [['ada'], 'it is a list'],
  [{}, 'its persona is absent, not a name'],
  [{ unread: 1 }, 'its persona is absent, not a name'],
  [{ persona: '', unread: 1 }, 'its persona is an empty string, not a name'],
] as const) {
  test(`F6 B10 ${JSON.stringify(bad)} in a pending list is a defect of its own, and the others count`, () => {
    assert.deepEqual(withDefects([bad, BO]), { byAddress: { bo: BO_LEVEL }, defects: [`0: ${defect}`] });
  });
}

for (const unread of [undefined, -1, true, '1', 1.5, null]) {
  test(`F6 an unread count of ${JSON.stringify(unread)} is unknown for that persona, and the others count`, () => {
    const { byAddress, defects } = withDefects([{ persona: 'ada', unread }, BO]);
    assert.deepEqual(byAddress, { ada: { unread: UNKNOWN, urgent: UNKNOWN }, bo: BO_LEVEL });
    assert.match(defects.join('|'), /^0: "unread" of "ada" is .*, not a count$/);
  });
}

test('F6 an urgent count that is none leaves the unread count', () => {
  const { byAddress, defects } = withDefects([{ persona: 'ada', unread: 1, unread_urgent: true }]);
  assert.deepEqual(byAddress, { ada: { unread: exactly(1), urgent: UNKNOWN } });
  assert.deepEqual(defects, ['0: "unread_urgent" of "ada" is a boolean, not a count']);
});

test('F6 a persona that is listed twice has unknown counts', () => {
  const { byAddress, defects } = withDefects([{ persona: 'ada', unread: 1 }, { persona: 'ada', unread: 2 }, BO]);
  assert.deepEqual(byAddress, { ada: { unread: UNKNOWN, urgent: UNKNOWN }, bo: BO_LEVEL });
  assert.deepEqual(defects, ['1: "ada" is listed twice']);
});

test('the directory gives names in its order and spelling, each once', () => {
  const result = [{ persona: 'bo', memory_count: 3 }, { persona: 'Ada' }, { persona: 'ada' }, { persona: 'bo' }];
  assert.deepEqual(names({ result }), ['bo', 'Ada', 'ada']);
});

for (const value of [
  { result: [] },
  { result: null },
  {},
  { result: ['ada'] },
  { result: [{}] },
  { result: [{ persona: '' }] },
]) {
  test(`${JSON.stringify(value)} is no directory`, () => assert.throws(() => names(value), { code: 'shape' }));
}

test('F6 B10 entries of a directory that have no name are defects, and the others are personas', () => {
  const defects: string[] = [];
  const result = ['', null, 5, {}, { persona: '' }, { persona: 7 }, { persona: 'ada' }, { persona: 'bo' }];
  const found = parseDirectory(parseAnswer(Buffer.from(JSON.stringify({ result })), READING), READING, (at, defect) =>
    defects.push(`${at}: ${defect}`),
  );
  assert.deepEqual([...found.keys()], ['ada', 'bo']);
  assert.deepEqual(defects, [
    '0: it is an empty string',
    '1: it is null',
    '2: it is a number',
    '3: its persona is absent, not a name',
    '4: its persona is an empty string, not a name',
    '5: its persona is a number, not a name',
  ]);
});

test('F6 B10 a directory of which no entry has a name says what the first one is', () => {
  assert.throws(() => roll({ result: [''] }), {
    message: /it lists no persona \(the first of 1 entry: it is an empty string\)/,
  });
});

test('F6 B10 what is wrong in a list is said once, and once when it is mended', () => {
  const output: string[] = [];
  const note = (line: string): void => void output.push(line);
  const defects = createListDefects(() => 'http://h/api', { info: note, warn: note, error: note });
  const answer = (...bad: number[]): void => {
    defects.collect((report) => {
      for (const at of bad) report(at, 'it is null');
    });
  };
  answer();
  answer(0);
  answer(0);
  answer(0, 1, 2, 3, 4);
  answer();
  answer();
  assert.deepEqual(output, [
    'http://h/api: entry 0: it is null. The other entries are used.',
    'http://h/api: entry 0: it is null; entry 1: it is null; entry 2: it is null; and 2 more. The other entries are used.',
    'http://h/api: every entry can be read again',
  ]);
});

test('trap 48: a memory count that is missing, or no count, is not known; it is never 0, and never summed from projects', () => {
  const memories = (entry: object) => roll({ result: [{ persona: 'ada', ...entry }] }).get('ada')?.memories;
  assert.equal(memories({}), null);
  for (const odd of [null, '3', 2.5, -1, true]) assert.equal(memories({ memory_count: odd }), null);
  assert.equal(memories({ projects: [{ count: 4 }] }), null);
  assert.equal(memories({ memory_count: 0, projects: [{ count: 4 }] }), 0);
  assert.equal(memories({ memory_count: 61 }), 61);
});

test('a member is retired or write-only only where the directory says true; a reserved name is as one that is retired', () => {
  const member = (entry: object) => roll({ result: [{ persona: 'ada', ...entry }] }).get('ada');
  assert.deepEqual(member({}), { memories: null, retired: false, writeOnly: false, mail: null });
  assert.deepEqual(member({ retired: 1, write_only: 'true' }), member({}));
  assert.deepEqual([member({ retired: true })?.retired, member({ reserved: true })?.retired], [true, true]);
  assert.equal(member({ write_only: true })?.writeOnly, true);
  assert.deepEqual(member({ mail_total: 4, unread: 1 })?.mail, { total: 4, unread: 1 });
  assert.equal(member({ mail_total: 4 })?.mail, null);
});
