import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineCutter } from './lines.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');

test('however a stream is cut into chunks, its lines come whole, each once and in order', () => {
  const piece = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll('\n', ' '));
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(40)), (lines, cuts) => {
      const all = bytes(lines.map((line) => `${line}\n`).join(''));
      const cut = createLineCutter(1000);
      const at = [0, ...cuts.map((offset) => Math.min(offset, all.length)).toSorted((a, b) => a - b), all.length];
      const got = at.slice(1).flatMap((end, i) => {
        const { lines: found, isOver } = cut(all.subarray(at[i], end));
        assert.equal(isOver, false);
        return found;
      });
      assert.deepEqual(
        got,
        lines.map((line) => Buffer.from(line, 'utf8').toString('utf8')),
      );
    }),
  );
});

test('a line may be as long as was said, also in pieces; a byte more is too long, behind the lines before it', () => {
  const whole = createLineCutter(4);
  assert.deepEqual(whole(bytes('ab')), { lines: [], isOver: false });
  assert.deepEqual(whole(bytes('cd\nabcd')), { lines: ['abcd'], isOver: false });
  assert.deepEqual(whole(bytes('e')), { lines: [], isOver: true });
  assert.deepEqual(createLineCutter(4)(bytes('a\nb\nabcde\nc\n')), { lines: ['a', 'b'], isOver: true });
});
