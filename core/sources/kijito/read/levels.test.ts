import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, UNKNOWN } from '../../../model/index.ts';
import { levelsOf, rollOf } from './index.ts';

const READING = { from: () => 'http://h/api', scope: { is: 'source', key: 'kijito' } } as const;
const levels = (value: unknown) => levelsOf(Buffer.from(JSON.stringify(value)), 7, READING);
const roll = (value: unknown) => rollOf(Buffer.from(JSON.stringify(value)), READING);
const names = (value: unknown) => [...roll(value).keys()];

test('the pending list gives counts by address, and its cursor when the server long-polls', () => {
  const result = [
    { persona: 'ada', unread: 3, unread_urgent: 1 },
    { persona: 'Ada', unread: 1, unread_urgent: 0 },
  ];
  assert.deepEqual(levels({ result, cursor: 'c1' }), {
    at: 7,
    cursor: 'c1',
    of: new Map([
      ['ada', { unread: exactly(3), urgent: exactly(1) }],
      ['Ada', { unread: exactly(1), urgent: exactly(0) }],
    ]),
  });
});

test('without a cursor the server does not long-poll', () => {
  for (const cursor of [undefined, null, '']) assert.equal(levels({ result: [], cursor }).cursor, null);
});

test('a server that does not count urgent mail leaves it unknown', () => {
  assert.deepEqual(levels({ result: [{ persona: 'ada', unread: 3 }] }).of.get('ada')?.urgent, UNKNOWN);
});

for (const value of [
  [],
  { result: {} },
  { result: ['ada'] },
  { result: [{ unread: 1 }] },
  { result: [{ persona: '', unread: 1 }] },
  { result: [{ persona: 'ada' }] },
  { result: [{ persona: 'ada', unread: -1 }] },
  { result: [{ persona: 'ada', unread: true }] },
  { result: [{ persona: 'ada', unread: '1' }] },
  { result: [{ persona: 'ada', unread: 1.5 }] },
  { result: [{ persona: 'ada', unread: 1, unread_urgent: true }] },
  {
    result: [
      { persona: 'ada', unread: 1 },
      { persona: 'ada', unread: 2 },
    ],
  },
  { result: [], cursor: 5 },
]) {
  test(`${JSON.stringify(value)} is no pending list`, () => assert.throws(() => levels(value), { code: 'shape' }));
}

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
