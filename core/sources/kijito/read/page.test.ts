import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, Fault, UNKNOWN } from '../../../model/index.ts';
import { type HivePage, parseAnswer, parsePage, parseRawMessages } from './page.ts';

const READING = { from: () => 'http://h/api/inbox', scope: { is: 'persona', key: 'ada' } } as const;
function page(value: unknown, owner = 'Zoë', sendsWindows = false): HivePage {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const { envelope, result } = parseAnswer(body, READING);
  const rows = parseRawMessages(result, READING, () => assert.fail('few rows need no turn'));
  assert.ok(!(rows instanceof Promise));
  return parsePage(envelope, rows, READING, owner, sendsWindows);
}
const row = (id: unknown, more: object = {}) => ({
  id,
  from: 'river',
  content: 'x',
  created: 'now',
  read: false,
  ...more,
});
const ids = ({ messages: rows }: HivePage) => rows.map(({ id }) => id);

function refused(value: unknown): string {
  try {
    page(value);
  } catch (error) {
    assert.ok(error instanceof Fault);
    assert.ok(error.message.startsWith('http://h/api/inbox: '));
    assert.deepEqual(error.scope, READING.scope);
    return `${error.code}: ${error.message.slice('http://h/api/inbox: '.length)}`;
  }
  return 'healthy';
}

test('an empty list is healthy and whole', () => {
  assert.deepEqual(page({ result: [] }), {
    messages: [],
    isWindow: false,
    older: { is: 'whole' },
    unreadHere: 0,
    unread: exactly(0),
    hiddenUnread: 0,
    omitted: null,
  });
});

test('rows in any order come out ascending', () =>
  assert.deepEqual(ids(page({ result: [row(3), row(1), row(2)] })), [1, 2, 3]));

test('a byte-order mark is accepted (D20)', () => assert.deepEqual(ids(page('\ufeff{"result":[]}')), []));

for (const body of ['', '<html>', '{"result":[}', '{"result":[]', 'null x']) {
  test(`${JSON.stringify(body)} is not JSON`, () =>
    assert.match(refused(body), /^not-json: the answer of \d+ bytes is not JSON/));
}

for (const [name, value] of [
  ['null', null],
  ['a list', []],
  ['a number', 7],
  ['no result', {}],
  ['result null', { result: null }],
  ['result an object', { result: {} }],
  ['a row that is null', { result: [null] }],
  ['a row that is a list', { result: [[1]] }],
  ['a row that is text', { result: ['x'] }],
  ['a row without an id', { result: [{}] }],
] as const) {
  test(`${name} is a shape fault, never "no mail"`, () => assert.match(refused(value), /^shape: /));
}

for (const id of ['7', 2.5, true, null, 0, -1, [1], 2 ** 53]) {
  test(`trap 23: the id ${JSON.stringify(id)} is refused`, () =>
    assert.match(refused({ result: [row(id)] }), /^shape: the id of row 0/));
}

test('the largest safe id is accepted', () =>
  assert.deepEqual(ids(page({ result: [row(2 ** 53 - 1)] })), [2 ** 53 - 1]));

test('an id that comes twice makes the page invalid (trap 24)', () => {
  assert.equal(refused({ result: [row(2), row(1), row(2)] }), 'shape: the id 2 appears twice');
});

test('unread is the exact number of unread rows of a whole answer', () => {
  assert.deepEqual(page({ result: [row(1), row(2, { read: true }), row(3)] }).unread, exactly(2));
});

test('S16: mail to oneself is not unread, in any spelling of the name; where nobody knows whose inbox it is, it is', () => {
  const own = ['Zoë', 'ZOË', 'Zoe\u0308'].map((from, i) => row(i + 1, { from }));
  const value = { result: [...own, row(4), row(5, { from: 'Zoe' })] };
  assert.deepEqual(page(value).unread, exactly(2));
  assert.deepEqual(page(value, '').unread, exactly(5));
});

test('a row that does not plainly say whether it is read makes the count unknown, not wrong', () => {
  for (const read of [null, 'false', 0, undefined]) {
    assert.deepEqual(page({ result: [row(1), row(2, { read })] }).unread, UNKNOWN);
  }
});

const window = (fields: object, rows = [row(5), row(6, { read: true })]) => ({ result: rows, ...fields });

test('no window field at all is a server that sends everything (D13)', () => {
  assert.deepEqual(page(window({})).older, { is: 'whole' });
  assert.deepEqual(page(window({ unread_not_shown: 0, size_truncated: false })).older, { is: 'whole' });
});

test('D13: a page without any window field, of a server that sends them, is cut and not the whole inbox', () => {
  const cut = page(window({}), 'Zoë', true);
  assert.equal(cut.older.is, 'unsaid');
  assert.deepEqual([cut.unread, cut.hiddenUnread], [{ is: 'atLeast', n: 1 }, null]);
});

test('nothing withheld and an explicit null is the end', () => {
  assert.deepEqual(page(window({ truncated: false, size_dropped: 0, next_before_id: null })).older, { is: 'whole' });
});

test('a clipped body of a lone message is no omission (trap 22)', () => {
  const fields = { truncated: false, size_dropped: 0, size_truncated: true, next_before_id: null };
  assert.deepEqual(page(window(fields)).older, { is: 'whole' });
});

test('withheld rows continue before the oldest row returned', () => {
  for (const fields of [{ truncated: true }, { size_dropped: 3 }, { truncated: true, size_dropped: 3 }]) {
    assert.deepEqual(page(window({ ...fields, next_before_id: 5 })).older, { is: 'older', before: 5 });
  }
});

test('a flag that is neither true nor false counts as an omission', () => {
  for (const truncated of [null, 1, 'yes', 0]) {
    assert.deepEqual(page(window({ truncated, next_before_id: 5 })).older, { is: 'older', before: 5 });
  }
  for (const dropped of [null, -1, 2.5, '3', true]) {
    assert.deepEqual(page(window({ size_dropped: dropped, next_before_id: 5 })).older, { is: 'older', before: 5 });
  }
});

test('a continuation that is absent or malformed is no answer, and not the end (trap 17)', () => {
  for (const next of [undefined, '5', 5.5, true, -1]) {
    assert.equal(page(window({ truncated: true, next_before_id: next })).older.is, 'unsaid', String(next));
    assert.equal(page(window({ truncated: false, next_before_id: next })).older.is, 'unsaid', String(next));
  }
});

for (const [name, value, says] of [
  ['withheld rows with nothing to continue (trap 20)', window({ truncated: true, next_before_id: null }), /none older/],
  [
    'a continuation with nothing withheld (trap 21)',
    window({ truncated: false, next_before_id: 5 }),
    /withheld nothing/,
  ],
  [
    'a continuation below the oldest row (trap 18)',
    window({ truncated: true, next_before_id: 4 }),
    /before 4.*oldest row is 5/,
  ],
  ['a continuation above the oldest row', window({ truncated: true, next_before_id: 6 }), /oldest row is 5/],
  ['an empty page that points back (trap 19)', window({ truncated: true, next_before_id: 5 }, []), /it is empty/],
] as const) {
  test(`${name} is a contradiction: neither half is believed, and its rows are`, () => {
    const { older, messages: rows } = page(value);
    assert.ok(older.is === 'unsaid');
    assert.match(older.why, says);
    assert.equal(rows.length, value.result.length);
  });
}

test('trap 28: what is not shown is known only of a page that is whole, or withholds and continues; 0 beside a contradiction says nothing', () => {
  const bounded = { truncated: true, next_before_id: 5 };
  assert.equal(page(window({})).hiddenUnread, 0);
  assert.equal(page(window({ ...bounded, unread_not_shown: 0 })).hiddenUnread, 0);
  assert.equal(page(window({ ...bounded, unread_not_shown: 7 })).hiddenUnread, 7);
  assert.equal(page(window(bounded)).hiddenUnread, null);
  assert.equal(page(window({ truncated: true, next_before_id: null, unread_not_shown: 0 })).hiddenUnread, null);
  assert.equal(page(window({ truncated: true, next_before_id: null, unread_not_shown: 2 })).hiddenUnread, 2);
});

test('how many rows are left out is known only where the count limit left none out', () => {
  assert.equal(page(window({ size_dropped: 3, next_before_id: 5 })).omitted, 3);
  assert.equal(page(window({ truncated: true, size_dropped: 3, next_before_id: 5 })).omitted, null);
});

test('unread of a bounded page adds what the server says is not shown; else it is a lower bound', () => {
  const bounded = { truncated: true, next_before_id: 5 };
  assert.deepEqual(page(window({ ...bounded, unread_not_shown: 7 })).unread, exactly(8));
  for (const hidden of [undefined, null, -1, true, '7']) {
    assert.deepEqual(page(window({ ...bounded, unread_not_shown: hidden })).unread, { is: 'atLeast', n: 1 });
  }
  assert.deepEqual(page(window({ truncated: true, unread_not_shown: 7 })).unread, { is: 'atLeast', n: 1 });
});
