import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isDevice, toStem } from './stem.ts';

test('an id that every file system takes as it is, is its own stem', () => {
  for (const id of ['ada', 'a.b_c-d', '0', '.hidden', 'x'.repeat(64)]) assert.equal(toStem(id), id);
});

test('any other id gets a readable form, ~ and six hex digits', () => {
  assert.match(toStem('Alice'), /^alice~[0-9a-f]{6}$/);
  assert.match(toStem('../../x'), /^\.\._\.\._x~[0-9a-f]{6}$/);
  assert.match(toStem('a/b'), /^a_b~[0-9a-f]{6}$/);
  assert.match(toStem('..'), /^\.\.~[0-9a-f]{6}$/);
  assert.match(toStem('dot.'), /^dot\.~[0-9a-f]{6}$/);
  assert.match(toStem(''), /^_~[0-9a-f]{6}$/);
});

test('no stem is a device of Windows, with or without an extension', () => {
  for (const id of ['CON', 'con', 'nul.txt', 'com1', 'LPT9.log', 'aux.', 'prn.a.b', `con.${'x'.repeat(80)}`]) {
    assert.ok(!isDevice(toStem(id)), `${id} -> ${toStem(id)}`);
    assert.match(toStem(id), /~/);
  }
});

/** What the most forgiving disk could make of a name. */
function folded(name: string): string {
  return name.normalize('NFKD').toLowerCase().normalize('NFC');
}

const id = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({
    unit: fc.constantFrom('a', 'A', 'é', 'e\u0301', '.', '~', '/', 'ß', 'K', '\u212a', '\ud800', '\udc00'),
    maxLength: 5,
  }),
  fc.constantFrom('CON', 'con', 'Con', 'nul.txt', 'NUL.TXT'),
);

test('trap 41: two ids never share a file, also on a disk that is blind to case or to Unicode composition', () => {
  fc.assert(
    fc.property(id, id, (a, b) => {
      fc.pre(a !== b);
      assert.notEqual(folded(toStem(a)), folded(toStem(b)));
    }),
    { numRuns: 3000 },
  );
});

test('a stem is at most 64 of [a-z0-9._~-], never a way out of its folder, and does not change from call to call', () => {
  fc.assert(
    fc.property(id, (a) => {
      assert.match(toStem(a), /^[a-z0-9._~-]{1,64}$/);
      assert.ok(!/^\.+$/.test(toStem(a)));
      assert.ok(!toStem(a).endsWith('.'));
      assert.equal(toStem(a), toStem(a));
    }),
  );
});
