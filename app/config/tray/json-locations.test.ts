import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { locateJson, toLineAndColumn } from './check-settings.ts';

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // that is the answer
  }
};

describe('places in a JSON text', () => {
  test('what JSON.parse refuses is broken, and nothing else; the place is inside the text or at its end', () => {
    const spaces = fc.constantFrom('', ' ', '\t', 2);
    const edits = fc.array(
      fc.record({ at: fc.nat(), put: fc.constantFrom('', ',', '"', '{', ']', '\\', '\n', '0', '-') }),
      {
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), spaces, edits, (value, indent, changes) => {
        let text = JSON.stringify(value, null, indent);
        for (const { at, put } of changes) {
          const cut = at % (text.length + 1);
          text = text.slice(0, cut) + put + text.slice(put === '' ? cut + 1 : cut);
        }
        const places = locateJson(text);
        assert.equal(places.is, parses(text) ? 'json' : 'broken', text);
        if (places.is === 'json') assert.deepEqual(places.value, JSON.parse(text));
        else assert.ok(places.offset >= 0 && places.offset <= text.length);
      }),
      { numRuns: 2000 },
    );
  });

  test('a member is where its key begins, an item where it begins; keys may have any letters', () => {
    const text = '{ "a/b~": [1,\n  {"é": 2}] }';
    const places = locateJson(text);
    assert.equal(places.is, 'json');
    const at = (pointer: string) => toLineAndColumn(text, places.findOffset(pointer));
    assert.deepEqual(at('/a~1b~0'), { line: 1, column: 3 });
    assert.deepEqual(at('/a~1b~0/0'), { line: 1, column: 12 });
    assert.deepEqual(at('/a~1b~0/1/é'), { line: 2, column: 4 });
  });

  test('a key that is there twice is told at its second place', () => {
    const places = locateJson('{"a": 1, "b": {"a": 1}, "\\u0061": 2}');
    assert.deepEqual(places.is === 'json' && places.repeated, [{ pointer: '/a', offset: 24 }]);
  });

  test('a text that nests without end is broken, not a full stack', () => {
    const places = locateJson('['.repeat(100_000));
    assert.ok(places.is === 'broken' && /nested deeper/.test(places.message));
  });
});
