import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findClosing, formatJson } from './line.ts';

/** The line that a fragment becomes, read as strictly as anybody reads: whole characters of UTF-8, JSON, one line. */
function closed(fragment: Uint8Array): Record<string, unknown> {
  const closing = findClosing(fragment);
  assert.ok(closing !== null, `nothing closes ${JSON.stringify(Buffer.from(fragment).toString('utf8'))}`);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat([fragment, closing]));
  assert.equal(text.indexOf('\n'), text.length - 1);
  return JSON.parse(text) as Record<string, unknown>;
}

describe('a line that was broken off', () => {
  test('becomes an event of the name torn, wherever it was broken off', () => {
    const line = formatJson({
      ...{ event: 'new', id: 12, from: 'bo', content: 'a "quoted" \\ 😀 é \u2028 \u0001 \ud83d end', nothing: null },
      ...{ yes: true, no: false, low: -0.5, list: [1, [2, { three: [] }]], nested: { a: { b: 'c' } }, event_id: 'x' },
    });
    const bytes = Buffer.from(line);
    for (let at = 1; at <= bytes.length - 1; at += 1) {
      assert.equal(closed(bytes.subarray(0, at)).event, 'torn', bytes.subarray(0, at).toString('utf8'));
    }
  });

  test('is what it was to be when only its newline is missing', () => {
    assert.deepEqual(findClosing(Buffer.from('{"event": "new", "id": 1}')), Buffer.from('\n'));
  });

  test('whatever stands in it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.nat(), (value, cut) => {
        const bytes = Buffer.from(formatJson({ event: 'new', ...value }));
        const at = 1 + (cut % (bytes.length - 1));
        assert.equal(closed(bytes.subarray(0, at)).event, 'torn');
      }),
      { numRuns: 500 },
    );
  });

  test('is closed again when its end was broken off', () => {
    const closing = findClosing(Buffer.from('{"event": "ne')) ?? assert.fail('it closes');
    const line = Buffer.concat([Buffer.from('{"event": "ne'), closing]);
    for (let at = 13; at < line.length - 1; at += 1) assert.equal(closed(line.subarray(0, at)).event, 'torn', `${at}`);
  });

  test('is left to be cut when it is no beginning of an object', () => {
    for (const text of [
      '',
      'garbage',
      '[1, 2',
      '"text',
      '{"a": 1} and',
      '{"a": x',
      '{{',
      '{"a": 1}}',
      '\0\0\0',
      '{"a\0',
    ]) {
      assert.equal(findClosing(Buffer.from(text)), null, JSON.stringify(text));
    }
  });
});
