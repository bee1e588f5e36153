import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HistoryState, NOTHING_KNOWN } from './history.ts';
import { toSlots } from './slots.ts';

const GRID = { slotMs: 10, first: 100, end: 104 };
const at = (time: number, unread: number | null, state: HistoryState) => ({ persona: 'ada', at: time, unread, state });

test('what changes at the border of a slot was never in it; what changes behind the border was', () => {
  const carried = new Map([['ada', { ...NOTHING_KNOWN, unread: 1, state: 'down' as const }]]);
  const onBorder = toSlots(GRID, carried, [at(1010, 2, 'up'), at(1030, null, 'failing')]).get('ada');
  assert.deepEqual(onBorder, { unread: [1, 2, 2, null], states: ['down', 'up', 'up', 'failing'] });
  const behind = toSlots(GRID, carried, [at(1011, 2, 'up'), at(1039, null, 'unknown')]).get('ada');
  assert.deepEqual(behind, { unread: [1, 2, 2, 2], states: ['down', 'down', 'up', 'up'] });
});

test('of who is first heard of in the middle, nothing is known before', () => {
  const slots = toSlots(GRID, new Map(), [at(1025, 0, 'up')]).get('ada');
  assert.deepEqual(slots, { unread: [null, null, 0, 0], states: ['unknown', 'unknown', 'up', 'up'] });
});
