import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapInTurns } from '../../json-parts.ts';

test('many are gone through in parts with turns between, and give the same as all at once', async () => {
  const items = Array.from({ length: 2500 }, (_, i) => i * 3);
  let turns = 0;
  const make = (item: number, index: number): string => `${item} ${index}`;
  const parts = mapInTurns(items, async () => void turns++, make);
  assert.ok(parts instanceof Promise);
  assert.deepEqual(await parts, items.map(make));
  assert.equal(turns, 7);
});

test('few need no turn', () => {
  const mapped = mapInTurns(
    Array(400).fill(1),
    () => assert.fail('no turn'),
    (item, index) => item + index,
  );
  assert.ok(Array.isArray(mapped));
  assert.equal(mapped[399], 400);
});
