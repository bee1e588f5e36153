import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ITEM_TYPES } from '../item.ts';
import { MAX_CONTENT } from '../new-item.ts';
import { formatEntryLine, parseEntry, type QueueEntry } from './entry.ts';

const NOW = 1_700_000_000_000;
const read = (fields: object): QueueEntry => {
  const found = parseEntry(JSON.stringify(fields), NOW);
  assert.ok(found.is === 'entry', JSON.stringify(found));
  return found.entry;
};
const why = (line: string): string => {
  const found = parseEntry(line, NOW);
  assert.ok(found.is === 'bad', `taken: ${line}`);
  return found.why;
};

describe('a line of the queue', () => {
  test('C1 given a key that only Hivebar itself may use, it is bad, so that it is put aside and said', () => {
    for (const dedup_key of ['hivebar:decision:1', 'HIVEBAR:x'])
      assert.match(
        why(JSON.stringify({ content: 'x', dedup_key })),
        /begins with hivebar:, which is reserved for Hivebar/,
      );
    assert.equal(read({ content: 'x', dedup_key: 'decision:1', origin: 'hivebar' }).dedupKey, 'decision:1');
  });

  test('the example of the seed', () => {
    const line = {
      id: '6f1c1c0e-9d0a-4c37-8a59-0d3f5d6b7a11',
      type: 'decision',
      source: 'bd decision respond',
      content: 'Decision X resolved: Y',
      priority: 2,
      timestamp: 1_707_858_243_000,
      dedup_key: 'decision:hq-abc123',
      ttl_seconds: 600,
    };
    assert.deepEqual(read(line), {
      type: 'decision',
      source: 'bd decision respond',
      content: 'Decision X resolved: Y',
      priority: 2,
      created: 1_707_858_243_000,
      expires: 1_707_858_843_000,
      dedupKey: 'decision:hq-abc123',
    });
  });

  test('seed 21: the oldest entries carry type, content and timestamp only; an absent priority is 2, not critical', () => {
    const { content, priority, dedupKey, created } = read({ type: 'nudge', content: 'x', timestamp: 5 });
    assert.deepEqual(
      { content, priority, dedupKey, created },
      { content: 'x', priority: 2, dedupKey: null, created: 5 },
    );
    assert.equal(read({ type: 'nudge', content: 'x' }).type, 'agent');
    assert.equal(read({ type: 'mail', content: 'x' }).created, NOW);
  });

  test('what is unknown is ignored, an unknown type is an event, zero values and null are absent', () => {
    assert.equal(read({ content: 'x', session_id: 5, nested: { a: [] } }).content, 'x');
    for (const type of ['reminder', '', 'Mail', 'toString', '__proto__'])
      assert.equal(read({ type, content: 'x' }).type, 'event');
    const nothing = { type: null, source: null, priority: null, timestamp: 0, dedup_key: '', ttl_seconds: 0, id: null };
    assert.deepEqual(read({ ...nothing, content: '' }), {
      type: 'event',
      source: 'queue',
      content: '',
      priority: 2,
      created: NOW,
      expires: null,
      dedupKey: null,
    });
  });

  test('a priority outside of 0-4 is the nearest, a source is one line that is not too long', () => {
    assert.deepEqual(
      [-1, 0, 1, 4, 5, 99].map((priority) => read({ content: '', priority }).priority),
      [0, 0, 1, 4, 4, 4],
    );
    assert.equal(read({ content: '', source: ' a\n\u0000b\u2028 ' }).source, 'a b');
    assert.equal(read({ content: '', source: 'x'.repeat(300) }).source.length, 200);
    assert.equal(read({ content: '', source: '\t\n' }).source, 'queue');
  });

  test('a key that is too long for the store is hashed: the same again, and unlike any other', () => {
    const [hashed, again, other] = ['k'.repeat(501), 'k'.repeat(501), 'k'.repeat(502)].map(
      (key) => read({ content: '', dedup_key: key }).dedupKey,
    );
    assert.match(hashed ?? '', /^sha256:[0-9a-f]{64}$/);
    assert.equal(hashed, again);
    assert.notEqual(hashed, other);
    assert.equal(read({ content: '', dedup_key: 'k'.repeat(500) }).dedupKey, 'k'.repeat(500));
  });

  for (const [label, line] of [
    ['no JSON', '{"content":"x"'],
    ['a list', '[{"content":"x"}]'],
    ['text', '"content"'],
    ['null', 'null'],
    ['no content', '{"type":"mail"}'],
    ['content that is a number', '{"content":5}'],
    ['content that is null', '{"content":null}'],
    ['a type that is a number', '{"content":"x","type":5}'],
    ['a source that is a list', '{"content":"x","source":["a"]}'],
    ['an id that is a number', '{"content":"x","id":5}'],
    ['a key that is a number', '{"content":"x","dedup_key":5}'],
    ['a priority that is text', '{"content":"x","priority":"2"}'],
    ['a priority that is true', '{"content":"x","priority":true}'],
    ['a priority that is 1.5', '{"content":"x","priority":1.5}'],
    ['a time that is text', '{"content":"x","timestamp":"2026-01-01"}'],
    ['a time below 0', '{"content":"x","timestamp":-1}'],
    ['a time beyond all days', '{"content":"x","timestamp":1e999}'],
    ['a life below 0', '{"content":"x","ttl_seconds":-1}'],
    ['a life that is text', '{"content":"x","ttl_seconds":"10m"}'],
    ['content over 1 MiB', JSON.stringify({ content: 'é'.repeat(MAX_CONTENT / 2 + 1) })],
  ] as const) {
    test(`is bad with ${label}`, () => assert.notEqual(why(line), ''));
  }
});

const text = fc.string({ unit: 'binary' }).map((raw) => raw.toWellFormed());
const anyEntry = fc.record<QueueEntry>({
  type: fc.constantFrom(...ITEM_TYPES),
  source: fc.stringMatching(/^[a-z][a-z é]{0,50}[a-z]$/),
  content: text,
  priority: fc.constantFrom(0, 1, 2, 3, 4),
  created: fc.integer({ min: 1, max: 4e12 }),
  expires: fc.constant(null),
  dedupKey: fc.option(text.filter((key) => key !== '')),
});

describe('an entry and its line', () => {
  test('any entry comes back as it was, in one line', () => {
    fc.assert(
      fc.property(anyEntry, fc.option(fc.integer({ min: 1, max: 1e8 })), (drawn, seconds) => {
        const entry = { ...drawn, expires: seconds === null ? null : drawn.created + seconds * 1000 };
        const line = formatEntryLine(entry, 'id');
        assert.equal(line.indexOf('\n'), line.length - 1);
        assert.deepEqual(parseEntry(line, NOW), { is: 'entry', entry });
      }),
    );
  });

  test('whole numbers are written, a life is rounded up, and what is over already lives a second', () => {
    const entry = read({ content: 'x', timestamp: 1000.7 });
    const fields = (expires: number): Record<string, unknown> =>
      JSON.parse(formatEntryLine({ ...entry, created: 1000.7, expires }, 'i'));
    assert.deepEqual([fields(2500).timestamp, fields(2500).ttl_seconds, fields(500).ttl_seconds], [1000, 2, 1]);
    assert.equal(Object.hasOwn(fields(1), 'dedup_key'), false);
  });

  test('half a surrogate becomes U+FFFD both ways', () => {
    assert.equal(read({ content: 'a\ud800' }).content, 'a\ufffd');
    assert.match(formatEntryLine({ ...read({ content: '' }), content: 'a\ud800' }, 'i'), /a\ufffd/);
  });

  test('whatever JSON a line is, it is an entry with all its parts in bounds, or bad with a reason', () => {
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom('mail', 2, 0, null, 'x', -1, 1e300));
    const names = ['id', 'type', 'source', 'content', 'priority', 'timestamp', 'dedup_key', 'ttl_seconds'];
    const odd = fc.dictionary(fc.constantFrom(...names), field, { maxKeys: 3 });
    const record = fc.tuple(fc.string(), odd).map(([content, fields]) => ({ content, ...fields }));
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(record, fc.jsonValue()), (value) => {
        const found = parseEntry(JSON.stringify(value) ?? '', NOW);
        if (found.is === 'bad') return assert.notEqual(found.why, '');
        accepted += 1;
        const { type, source, priority, created, expires, dedupKey } = found.entry;
        assert.ok(ITEM_TYPES.includes(type) && [0, 1, 2, 3, 4].includes(priority));
        assert.ok(source.trim() !== '' && source.length <= 200);
        assert.ok(Number.isInteger(created) && created > 0 && dedupKey !== '');
        assert.ok(expires === null || (expires >= created && expires <= 8.64e15));
      }),
      { numRuns: 3000 },
    );
    assert.ok(accepted > 50, `only ${accepted} were entries`);
  });
});
