import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LineReading, parseLine, parseLines, type SourceLine } from './lines.ts';
import { createLineSplitter } from './split.ts';

function read(value: unknown, contentChars: number | null = 220): LineReading {
  return parseLine(typeof value === 'string' ? value : JSON.stringify(value), contentChars);
}

function expectLine(value: unknown): { readonly line: SourceLine; readonly defects: readonly string[] } {
  const reading = read(value);
  assert.equal(reading.is, 'line', JSON.stringify(reading));
  return reading as Extract<LineReading, { is: 'line' }>;
}

test('given the lines of the contract, each is read with its defaults', () => {
  assert.deepEqual(
    expectLine({ op: 'ready', protocol: 1, source: 'my-mail', label: 'My mail', can: ['hint', 'fly'] }).line,
    {
      ...{ op: 'ready', source: 'my-mail', label: 'My mail', can: ['hint'] },
    },
  );
  const { line: persona } = expectLine({
    op: 'persona',
    persona: 'ada',
    unread: 2,
    urgent: null,
    agent: 'live',
    cwd: '/srv/p',
  });
  assert.deepEqual(persona, {
    ...{ op: 'persona', persona: 'ada', label: null, unread: 2, urgent: null, agent: 'live', why: null, cwd: '/srv/p' },
    ...{ pane: null, resume: null, you: false },
  });
  const item = {
    op: 'item',
    persona: 'ada',
    key: 'm-17',
    state: 'unread',
    from: 'bo',
    created: '2026-11-29T09:00:00Z',
  };
  const more = {
    subject: 'Schema',
    content: 'May I?',
    urgent: true,
    kind: 'question',
    extra: { n: 1 },
    later: 'ignored',
  };
  assert.deepEqual(expectLine({ ...item, ...more }).line, {
    ...item,
    ...{
      subject: 'Schema',
      content: 'May I?',
      urgent: true,
      kind: 'question',
      thread: null,
      open: null,
      extra: { n: 1 },
    },
  });
  assert.deepEqual(expectLine({ op: 'done' }).line, { op: 'done', id: null, cursor: null, full: true, more: false });
  assert.deepEqual(expectLine({ op: 'changed' }).line, { op: 'changed', persona: null });
  assert.deepEqual(expectLine({ op: 'result', id: 3, ok: false, message: 'no' }).line, {
    ...{ op: 'result', id: 3, ok: false, message: 'no' },
  });
  assert.deepEqual(expectLine({ op: 'fault', code: 'auth', message: 'log in' }).line, {
    ...{ op: 'fault', code: 'auth', message: 'log in', persona: null, retryMs: null },
  });
});

test('given a name or a key that nothing can be called, the line is left out', () => {
  const item = { op: 'item', persona: 'ada', key: 'k', state: 'read' };
  for (const persona of [
    '',
    '../x',
    'a/../b',
    '..',
    'a\0b',
    'a\nb',
    '\ud800',
    '__proto__',
    'x'.repeat(201),
    7,
    null,
    {},
  ])
    assert.equal(read({ ...item, persona }).is, 'refused', JSON.stringify(persona));
  for (const key of ['', 'a\0', '\udfff', '__proto__', 'k'.repeat(201), 7])
    assert.equal(read({ ...item, key }).is, 'refused');
  assert.equal(read({ ...item, state: 'lost' }).is, 'refused');
  assert.equal(read({ op: 'item', persona: '../x', key: 'k' }).is, 'refused');
  assert.equal(read({ ...item, persona: 'a/b', key: '../k' }).is, 'line');
});

test('given text that would break a surface, it is cleaned and cut', () => {
  const reading = expectLine({
    ...{
      op: 'item',
      persona: 'ada',
      key: 'k',
      state: 'unread',
      from: 'b\u0007o\n',
      subject: `a\u2028b${'x'.repeat(900)}`,
    },
    ...{ content: `one\ntwo\0\ud800${'y'.repeat(500)}` },
  });
  const { line } = reading;
  assert.ok(line.op === 'item');
  assert.equal(line.from, 'b o');
  assert.equal(line.subject?.length, 500);
  assert.ok(line.content?.startsWith('one\ntwo\ufffdyyy'));
  assert.equal(line.content?.length, 220);
  const without = read({ op: 'item', persona: 'ada', key: 'k', state: 'unread', content: 'x' }, null);
  assert.ok(without.is === 'line' && without.line.op === 'item' && without.line.content === null);
});

test('given values that cannot be used, they are left out with a defect', () => {
  const { line, defects } = expectLine({
    ...{
      op: 'item',
      persona: 'ada',
      key: 'k',
      state: 'unread',
      from: 7,
      created: 'noon',
      kind: 'joke',
      open: { argv: [] },
    },
    extra: {
      ok: 1,
      'no key': 1,
      deep: { a: 1 },
      ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])),
    },
  });
  assert.ok(line.op === 'item');
  assert.deepEqual([line.from, line.created, line.kind, line.open], [null, null, 'mail', null]);
  assert.equal(Object.keys(line.extra).length, 14);
  assert.equal(defects.length, 7);
  const parsed = read(
    '{"op":"item","persona":"a","key":"k","state":"read","extra":{"__proto__":1,"a":"b"},"__proto__":{"x":1}}',
  );
  assert.ok(parsed.is === 'line' && parsed.line.op === 'item');
  assert.deepEqual({ ...parsed.line.extra }, { a: 'b' });
  assert.equal(parsed.defects.length, 1);
  assert.equal(({} as { x?: number }).x, undefined);
  assert.equal(expectLine({ op: 'persona', persona: 'ada', unread: -1 }).defects.length, 1);
});

test('given lines after which nothing counts, they are broken', () => {
  const broken = ['x', '[]', '7', '{}', '{"op":1}', `{"op":"x","a":"${'b'.repeat(256 * 1024)}"}`];
  for (const text of broken) assert.equal(read(text).is, 'broken', text.slice(0, 20));
  assert.equal(read({ op: 'ready', protocol: 2, source: 'x-y' }).is, 'broken');
  assert.equal(read({ op: 'ready', protocol: 1, source: 'No' }).is, 'broken');
  assert.equal(read({ op: 'done', id: 1, full: 'yes' }).is, 'broken');
  assert.equal(read({ op: 'done', id: 1, more: true }).is, 'broken');
  assert.equal(read({ op: 'done', id: 1, cursor: 'c'.repeat(4097) }).is, 'broken');
  assert.deepEqual(read({ op: 'dance' }), { is: 'unknown', op: 'dance' });
});

test('given a file, it is one array or lines, and counts as a whole or not at all', () => {
  const persona = { op: 'persona', persona: 'ada' };
  assert.equal(parseLines(JSON.stringify([persona, { op: 'item' }]), 10).readings.length, 2);
  assert.equal(parseLines(`${JSON.stringify(persona)}\n\n${JSON.stringify(persona)}\n`, 10).readings.length, 2);
  assert.match(parseLines(`${JSON.stringify(persona)}\n{"op"`, 10).broken ?? '', /not JSON/);
  assert.match(parseLines('[1', 10).broken ?? '', /not JSON/);
  assert.match(parseLines(JSON.stringify(Array(5001).fill(persona)), 10).broken ?? '', /more than 5000/);
  assert.deepEqual(parseLines('', 10), { readings: [], broken: null });
});

test('given bytes of a pipe, lines are cut wherever the chunks end, and a line over the limit ends it', () => {
  const splitter = createLineSplitter(10);
  const bytes = Buffer.from('äb\r\n\ncd\nef');
  const lines = Array.from(bytes, (_, i) => splitter.push(bytes.subarray(i, i + 1)) ?? []).flat();
  assert.deepEqual([...lines, splitter.flush()], ['äb', 'cd', 'ef']);
  assert.deepEqual(splitter.push(Buffer.from('0123456789\n')), ['0123456789']);
  assert.equal(splitter.push(Buffer.from('01234567890')), null);
  assert.equal(splitter.push(Buffer.from('\n')), null);
});
