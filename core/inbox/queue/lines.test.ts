import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lines } from '../../../test/kit/queue-rig.ts';
import { endsTorn, formatMarker, parsePieces } from './entry.ts';
import { formatCopy, parseCopy } from './take-over.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
const found = (text: string | Uint8Array): readonly string[] =>
  parsePieces(Buffer.from(text), 0).map((piece) => (piece.is === 'entry' ? piece.entry.content : `bad: ${piece.line}`));

describe('the lines of a queue', () => {
  test('in their order; blank lines, CR and marks are nothing', () => {
    assert.deepEqual(found(`${lines('a')}\n \r\n${formatMarker(NONCE)}${lines('b').replace('\n', '\r\n')}`), [
      'a',
      'b',
    ]);
    assert.deepEqual(found(''), []);
  });

  test('a last line that lacks only its LF is a line, half a line is bad', () => {
    assert.deepEqual(found(`${lines('a')}{"content":"b"}`), ['a', 'b']);
    assert.deepEqual(found(`${lines('a')}{"content":"b`), ['a', 'bad: {"content":"b']);
  });

  test('a line right behind half a line of a writer that died is found', () => {
    assert.deepEqual(found(`{"type":"mail","content":"he${lines('a')}`), ['bad: {"type":"mail","content":"he', 'a']);
    assert.deepEqual(found(`{"x":{"y":{"${lines('a')}`), ['bad: {"x":{"y":{"', 'a']);
  });

  test('a line that is whole but odd is bad as a whole: nothing inside it is taken for a line', () => {
    const line = JSON.stringify({ content: 5, inner: { content: 'x' } });
    assert.deepEqual(found(line), [`bad: ${line}`]);
  });

  test('bytes that are no UTF-8 cost a letter, not the message', () => {
    const bytes = Buffer.from('{"content":"caf\xe9"}\n', 'latin1');
    assert.deepEqual(found(bytes), ['caf\ufffd']);
  });

  test('a long bad line of openings ends soon', () => {
    assert.equal(found('{"'.repeat(200_000)).length, 1);
  });

  test('whatever the bytes are, whole lines among them are all found, and the places never repeat', () => {
    const junk = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)));
    const part = fc.oneof(
      fc.string().map((content) => ({ content })),
      junk,
    );
    fc.assert(
      fc.property(fc.array(part), fc.boolean(), (parts, isEnded) => {
        const bytes = Buffer.concat(
          parts.map((piece) =>
            Buffer.isBuffer(piece) ? Buffer.concat([piece, Buffer.from('\n')]) : Buffer.from(lines(piece.content)),
          ),
        );
        const pieces = parsePieces(isEnded ? bytes : bytes.subarray(0, -1), 0).filter(({ is }) => is === 'entry');
        const expected = parts.flatMap((piece) => (Buffer.isBuffer(piece) ? [] : [piece.content.toWellFormed()]));
        assert.deepEqual(
          pieces.map((piece) => piece.is === 'entry' && piece.entry.content),
          expected,
        );
        assert.equal(new Set(pieces.map((piece) => piece.is === 'entry' && piece.place)).size, pieces.length);
      }),
      { numRuns: 500 },
    );
  });

  test('torn is a last line that is not whole', () => {
    const torn = ['', lines('a'), '{"content":"a"}', `${lines('a')}{"con`, 'x', 'x\n'].map((text) =>
      endsTorn(Buffer.from(text)),
    );
    assert.deepEqual(torn, [false, false, false, true, true, false]);
  });
});

describe('the copy of a queue', () => {
  test('comes back as it was; cut anywhere it is torn, never half', () => {
    const body = Buffer.from(`${lines('a', 'b')}{"half`);
    const bytes = formatCopy(NONCE, body);
    const whole = parseCopy(bytes);
    assert.ok(whole.is === 'whole');
    assert.deepEqual([whole.nonce, Buffer.from(whole.body)], [NONCE, body]);
    assert.equal(parseCopy(new Uint8Array()).is, 'none');
    for (let cut = 1; cut < bytes.length; cut += 1)
      assert.equal(parseCopy(bytes.subarray(0, cut)).is, 'torn', `at ${cut}`);
  });

  test('lines that somebody else put aside there are taken, under a name that stays', () => {
    const bytes = Buffer.from(lines('a'));
    const [once, again] = [parseCopy(bytes), parseCopy(Buffer.from(lines('a')))];
    assert.ok(once.is === 'whole' && again.is === 'whole');
    assert.equal(once.nonce, again.nonce);
    assert.match(once.nonce, /^[0-9a-f]{32}$/);
    assert.deepEqual(Buffer.from(once.body), bytes);
  });
});
