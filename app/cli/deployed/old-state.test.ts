import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findPersona, formatBaseUrl, type OldIdentity, parseOldState } from './old-state.ts';

const IDENTITY: OldIdentity = ['http', '127.0.0.1', 7474, '/api/inbox', [['persona', 'ada']]];
const GOOD = { identity: IDENTITY, cursor: 4, state: 'UP', consecutive_failures: 0 };
const read = (value: unknown) => parseOldState(new TextEncoder().encode(JSON.stringify(value)));

describe('a state file of the deployed monitor', () => {
  test('is read with what it delivered above its cursor; keys of others are ignored', () => {
    const state = read({ ...GOOD, emitted_above: [9, 6, 7, 7], gap_alerted: 4, pin_forced: true, other: { a: 1 } });
    assert.ok(state.is === 'position');
    assert.deepEqual(state.saved, {
      cursor: 4,
      state: 'UP',
      consecutive_failures: 0,
      delivered_above: [
        [6, 7],
        [9, 9],
      ],
      gap_alerted: 4,
    });
    assert.deepEqual(state.keys, { ...GOOD, emitted_above: [9, 6, 7, 7], gap_alerted: 4, pin_forced: true });
  });

  test('D23: -1, of an inbox that was empty, is 0', () => {
    const state = read({ ...GOOD, cursor: -1 });
    assert.ok(state.is === 'position');
    assert.deepEqual([state.saved.cursor, state.keys.cursor], [0, 0]);
  });

  for (const [change, why] of [
    [{ cursor: true }, 'has an unusable cursor: true'],
    [{ cursor: 2.5 }, 'has an unusable cursor: 2.5'],
    [{ cursor: '7' }, 'has an unusable cursor: "7"'],
    [{ cursor: undefined }, 'has no cursor'],
    [{ state: 'up' }, 'has an unusable state: "up"'],
    [{ consecutive_failures: -1 }, 'has an unusable consecutive_failures: -1'],
    [{ identity: ['http', 'h', '7474', '/', []] }, 'has an unusable identity: ["http","h","7474","/",[]]'],
    [{ emitted_above: [1, true] }, 'has an unusable emitted_above: [1,true]'],
    [{ pin_forced: 1 }, 'has an unusable pin_forced: 1'],
    [{ pin_release_at: null }, 'has an unusable pin_release_at: null'],
  ] as const)
    test(`trap 23, trap 31: what is odd is no position: ${why}`, () =>
      assert.deepEqual(read({ ...GOOD, ...change }), { is: 'unusable', why }));

  test('cut anywhere, or with any bytes in it, it is no position and no crash', () => {
    const whole = new TextEncoder().encode(JSON.stringify(GOOD));
    for (let length = 0; length < whole.length; length += 1)
      assert.equal(parseOldState(whole.subarray(0, length)).is, 'unusable');
    fc.assert(fc.property(fc.uint8Array(), (bytes) => parseOldState(bytes).is === 'unusable'));
    fc.assert(fc.property(fc.json(), (text) => parseOldState(new TextEncoder().encode(text)).is === 'unusable'));
  });
});

test('the persona and the hive of an identity; a single address has no persona', () => {
  assert.deepEqual([findPersona(IDENTITY), formatBaseUrl(IDENTITY)], ['ada', 'http://127.0.0.1:7474']);
  assert.equal(findPersona(['https', 'h', 443, '/x', [['a', 'b']]]), null);
  assert.equal(
    findPersona([
      'https',
      'h',
      443,
      '/x',
      [
        ['a', 'b'],
        ['persona', 'ada'],
      ],
    ]),
    null,
  );
  assert.equal(formatBaseUrl(['https', 'h', 443, '/kijito/api/inbox', []]), 'https://h/kijito');
});
