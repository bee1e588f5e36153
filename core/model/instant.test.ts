import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIso } from './instant.ts';

const END = Date.UTC(2101, 0, 1); // 2100 is no leap year

test('an instant is printed with six decimals and the zero offset that the Python monitor writes', () => {
  assert.equal(formatIso(0), '1970-01-01T00:00:00.000000+00:00');
  assert.equal(formatIso(Date.UTC(2026, 5, 20, 10, 0, 0, 123)), '2026-06-20T10:00:00.123000+00:00');
});

test('leap days and ends of years fall where the calendar has them', () => {
  for (const [year, month, day] of [
    [1972, 2, 29],
    [1999, 12, 31],
    [2000, 2, 29],
    [2000, 3, 1],
    [2023, 3, 1],
    [2024, 2, 29],
    [2099, 12, 31],
  ] as const) {
    const at = Date.UTC(year, month - 1, day, 23, 59, 59, 999);
    assert.equal(formatIso(at), new Date(at).toISOString().replace('Z', '000+00:00'));
  }
});

test('every millisecond from 1970 to 2100 is the one that Date prints', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: END }), (at) => {
      assert.equal(formatIso(at), new Date(at).toISOString().replace('Z', '000+00:00'));
    }),
    { numRuns: 2000 },
  );
});

test('every day from 1970 to 2100 is the one that Date prints', () => {
  for (let at = 0; at < END; at += 86_400_000)
    assert.equal(formatIso(at).slice(0, 10), new Date(at).toISOString().slice(0, 10));
});

test('a fraction carries microseconds, each of them exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: END - 1 }), fc.integer({ min: 0, max: 999 }), (ms, micros) => {
      const expected = new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}+00:00`);
      assert.equal(formatIso((ms * 1000 + micros) / 1000), expected);
    }),
    { numRuns: 2000 },
  );
});
