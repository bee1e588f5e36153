import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeTomorrowMorning, evaluateHours, parseDateTime } from './local-time.node.ts';

process.env.TZ = 'Europe/Berlin';
const at = (text: string): number => new Date(text).getTime(); // no zone: by the clock on the wall
const NIGHT = { from: '22:00', to: '07:00' };

test('hours over midnight: within from their beginning on, until the moment before their end', () => {
  for (const [now, within, next] of [
    ['2026-06-10T21:59:59', false, '2026-06-10T22:00'],
    ['2026-06-10T22:00:00', true, '2026-06-11T07:00'],
    ['2026-06-11T00:30:00', true, '2026-06-11T07:00'],
    ['2026-06-11T06:59:59', true, '2026-06-11T07:00'],
    ['2026-06-11T07:00:00', false, '2026-06-11T22:00'],
  ] as const) {
    assert.deepEqual(evaluateHours(at(now), NIGHT), { within, changesAt: at(next) }, now);
  }
});

test('hours within a day', () => {
  const lunch = { from: '12:00', to: '13:30' };
  assert.deepEqual(evaluateHours(at('2026-06-10T12:00'), lunch), { within: true, changesAt: at('2026-06-10T13:30') });
  assert.deepEqual(evaluateHours(at('2026-06-10T13:30'), lunch), { within: false, changesAt: at('2026-06-11T12:00') });
});

test('from and to at the same time are the whole day', () => {
  const always = { from: '08:00', to: '08:00' };
  for (const now of ['2026-06-10T07:59', '2026-06-10T08:00', '2026-06-10T20:00'])
    assert.equal(evaluateHours(at(now), always).within, true, now);
});

test('the nights on which clocks are moved end at the same time by the wall', () => {
  assert.equal(evaluateHours(at('2026-03-28T23:00'), NIGHT).changesAt, at('2026-03-29T07:00'));
  assert.equal(evaluateHours(at('2026-10-24T23:00'), NIGHT).changesAt, at('2026-10-25T07:00'));
  assert.equal(at('2026-03-29T07:00') - at('2026-03-28T22:00'), 8 * 3_600_000);
});

test('tomorrow is the next morning of the wall clock, also after midnight', () => {
  assert.equal(computeTomorrowMorning(at('2026-06-10T00:10')), at('2026-06-11T08:00'));
  assert.equal(computeTomorrowMorning(at('2026-12-31T23:59')), at('2027-01-01T08:00'));
});

test('an instant is read with its zone', () => {
  assert.equal(parseDateTime('2026-06-10T10:00:00+02:00'), Date.UTC(2026, 5, 10, 8));
  assert.equal(parseDateTime('2026-13-40T10:00:00Z'), null);
});
