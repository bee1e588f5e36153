import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMailEventId, toOtherEventId, toWakeClass } from './event.ts';

test('only mail wakes; the closed set of liveness names must not; any other name, known or not, is a diagnostic', () => {
  for (const name of ['new', 'handoff', 'assigned', 'action']) assert.equal(toWakeClass(name), 'mail', name);
  for (const name of ['heartbeat', 'armed', 'delivered', 'read', 'gone', 'cleared', 'acked']) {
    assert.equal(toWakeClass(name), 'liveness', name);
  }
  for (const name of [
    'alert',
    'recovered',
    'seed_ahead',
    'replay_capped',
    'persona_added',
    'never-heard-of',
    'NEW',
    '',
  ]) {
    assert.equal(toWakeClass(name), 'diagnostic', name);
  }
});

test('a message has the same id for ever; no persona is an underscore', () => {
  assert.equal(toMailEventId('ada', 2), 'ada:new:2');
  assert.equal(toMailEventId(null, 2), '_:new:2');
  assert.equal(toMailEventId('ada', 2, 'handoff'), 'ada:handoff:2');
});

test('any other event is numbered within the run of the process', () => {
  assert.equal(toOtherEventId('ada', 'armed', '0123456789abcdef', 1), 'ada:armed:0123456789abcdef-1');
  assert.equal(toOtherEventId(null, 'alert', '0123456789abcdef', 7), '_:alert:0123456789abcdef-7');
});
