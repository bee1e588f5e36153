import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../../core/events/index.ts';
import { isWaking } from './follow-inbox.ts';

const fields = (event: string, more: object = {}): Event =>
  ({ event, event_id: 'ada:x:1', ...more }) as unknown as Event;
const ALL = { diagnostics: true };
const MAIL = { diagnostics: false };

describe('trap 61: what wakes an agent', () => {
  test('mail does, whatever its class says; the own does not', () => {
    assert.ok(isWaking(fields('new', { wake_class: 'mail' }), MAIL));
    for (const name of ['new', 'handoff', 'assigned', 'action']) assert.ok(isWaking(fields(name), MAIL), name);
    assert.ok(isWaking(fields('new', { wake_class: 'liveness' }), MAIL));
    assert.ok(isWaking(fields('new', { self: 'true' }), MAIL)); // not what a writer of ours says
    assert.ok(!isWaking(fields('new', { wake_class: 'mail', self: true }), ALL));
  });

  test('a sign of life does not, by its name or by its class', () => {
    for (const name of ['heartbeat', 'armed', 'delivered', 'read', 'gone', 'cleared', 'acked'])
      assert.ok(!isWaking(fields(name, { wake_class: 'diagnostic' }), ALL), name);
    assert.ok(!isWaking(fields('pulse', { wake_class: 'liveness' }), ALL));
  });

  test('what the agent does itself does not', () => {
    for (const name of ['waiting', 'resumed']) assert.ok(!isWaking(fields(name, { wake_class: 'diagnostic' }), ALL));
  });

  test('all else does unless only mail is wanted: no class, one that is not known, a kind that is not known', () => {
    for (const event of [
      fields('alert'),
      fields('comet', { wake_class: 'cosmic' }),
      fields('comet', { wake_class: 7 }),
    ]) {
      assert.ok(isWaking(event, ALL));
      assert.ok(!isWaking(event, MAIL));
    }
  });
});
