import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkJson, JSON_LIMITS, JsonRefusal, parseJson } from './index.ts';

const refused = (text: string, limits = JSON_LIMITS): string => {
  try {
    parseJson(text, limits);
  } catch (error) {
    assert.ok(error instanceof JsonRefusal && error instanceof SyntaxError, String(error));
    return error.message;
  }
  return 'not refused';
};

describe('JSON from outside', () => {
  test('B4 is refused before it is parsed: too deep, too many values, too long, each with its limit', () => {
    assert.equal(refused('['.repeat(6_000_000)), 'it is nested deeper than 64 levels');
    assert.equal(refused('{"a":'.repeat(1_000_000)), 'it is nested deeper than 64 levels');
    assert.equal(refused(`[${'[],'.repeat(50_000)}[]]`), 'it holds more than 50000 values');
    assert.equal(refused(`[${'1,'.repeat(60_000)}1]`), 'it holds more than 50000 values');
    assert.equal(refused(JSON.stringify('x'.repeat(9_000_000))), 'it has 9000002 characters, over 8388608');
  });

  test('B4 is taken up to its limits, and brackets in text are no depth', () => {
    const deep = `${'['.repeat(64)}${']'.repeat(64)}`;
    assert.deepEqual(parseJson(deep), JSON.parse(deep));
    const text = JSON.stringify({ content: `"\\${'[{,'.repeat(100_000)}` });
    assert.deepEqual(parseJson(text), JSON.parse(text));
  });

  test('B4 is what JSON.parse makes of it', () => {
    fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(parseJson(text), JSON.parse(text))));
    for (const broken of ['', '{', '"', '"\\', '[1,]', 'nul'])
      assert.throws(
        () => parseJson(broken),
        (error) => error instanceof SyntaxError && !(error instanceof JsonRefusal),
      );
    assert.equal(checkJson('"never ends ['.repeat(3)), undefined);
  });
});
