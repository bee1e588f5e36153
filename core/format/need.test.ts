import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortByNeed } from './index.ts';

const QUIET = {
  ...{ state: 'UP', agent: 'unknown', agentReason: null, agentSince: null },
  ...{ unread: 0, urgent: 0, questions: 0, lastMailAt: null },
};
const at = (minute: number): string => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000000+00:00`;

function listOrder(
  personas: readonly (Partial<Parameters<typeof sortByNeed>[0][number]> & { readonly id: string })[],
  asks: Partial<Parameters<typeof sortByNeed>[1]> = {},
): readonly string[] {
  const whole = personas.map((persona) => ({ ...QUIET, label: persona.id, ...persona }));
  return sortByNeed(whole, { decisions: [], permissions: [], ...asks }).map(([{ id }, { level }]) => `${id} ${level}`);
}

test('urgent mail comes first, then whoever waits, what is down, unread mail, and agents that ended last', () => {
  const order = listOrder([
    { id: 'gone', agent: 'gone' },
    { id: 'quiet' },
    { id: 'unread', unread: 2 },
    { id: 'down', state: 'DOWN', unread: 2 },
    { id: 'stalled', agent: 'stalled', unread: 2 },
    { id: 'waiting', agent: 'waiting', unread: 2 },
    { id: 'urgent', urgent: 1, unread: 1 },
  ]);
  assert.deepEqual(order, [
    'urgent urgent',
    'waiting waiting',
    'down failing',
    'stalled failing',
    'unread unread',
    'quiet quiet',
    'gone gone',
  ]);
});

test('a question and a permission prompt wait for a person; a question of high urgency is urgent', () => {
  const order = listOrder([{ id: 'ada' }, { id: 'bo' }, { id: 'cy' }, { id: 'dee', questions: 1 }], {
    decisions: [
      { persona: 'bo', urgency: 'normal', created: at(2) },
      { persona: 'cy', urgency: 'high', created: at(3) },
    ],
    permissions: [{ persona: 'ada', created: at(1) }],
  });
  assert.deepEqual(order, ['cy urgent', 'ada waiting', 'bo waiting', 'dee waiting']);
});

test('of agents that wait, the one that waits for the longest time comes first', () => {
  const order = listOrder([
    { id: 'late', agent: 'waiting', agentSince: at(9) },
    { id: 'unknown', agent: 'waiting' },
    { id: 'early', agent: 'waiting', agentSince: at(1) },
  ]);
  assert.deepEqual(order, ['early waiting', 'late waiting', 'unknown waiting']);
});

test('within a level the newest mail comes first, then the name', () => {
  const order = listOrder([
    { id: 'bo', unread: 9, lastMailAt: at(1) },
    { id: 'cy', unread: 1 },
    { id: 'ada', unread: 1 },
    { id: 'dee', unread: 1, lastMailAt: at(2) },
  ]);
  assert.deepEqual(order, ['dee unread', 'bo unread', 'ada unread', 'cy unread']);
});
