import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange } from '../../ui-static/apply-change.ts';
import type { PersonaWire, StatusChangeWire, StatusWire } from './wire.ts';

const time = (second: number): string => `2026-06-20T10:00:${String(second).padStart(2, '0')}.000000+00:00`;
const persona = (id: string, over: Partial<PersonaWire> = {}): PersonaWire =>
  ({ id, unread: 0, asOf: time(0), staleAfter: time(30), ...over }) as PersonaWire;
const status = (...personas: PersonaWire[]): StatusWire =>
  ({ schema: 1, rev: 1, generatedAt: time(1), totals: { unread: 0 }, causes: [], personas }) as unknown as StatusWire;
const change = (over: Partial<StatusChangeWire> = {}): StatusChangeWire => ({
  ...{ rev: 2, generatedAt: time(5), asOf: time(4), set: {}, personas: [], removed: [] },
  ...over,
});

test('given one changed persona, only it is said to have changed, and the others only are as fresh as the frame says', () => {
  const before = status(persona('ada'), persona('bo'), persona('cy', { asOf: null, staleAfter: null }));
  const { status: after, changed } = applyChange(before, change({ personas: [persona('bo', { unread: 2 })] }));
  assert.deepEqual([...changed], ['bo']);
  assert.deepEqual(
    after.personas.map(({ id, unread, asOf, staleAfter }) => [id, unread, asOf, staleAfter]),
    [
      ['ada', 0, time(4), null],
      ['bo', 2, time(4), null],
      ['cy', 0, null, null],
    ],
  );
  assert.equal(after.personas[2], before.personas[2], 'who was never read is the same object');
  assert.equal(before.personas[0]?.asOf, time(0), 'the status before stays as it was');
  const again = applyChange(after, change({ generatedAt: time(6) }));
  assert.equal(again.status.personas[0], after.personas[0]);
  assert.equal(again.changed.size, 0);
});

test('given personas that are new or gone, the list has the order of the whole status', () => {
  const { status: after, changed } = applyChange(
    status(persona('bo'), persona('cy')),
    change({ personas: [persona('ada'), persona('b')], removed: ['cy'] }),
  );
  assert.deepEqual(
    after.personas.map(({ id }) => id),
    ['ada', 'b', 'bo'],
  );
  assert.deepEqual([...changed].sort(), ['ada', 'b', 'cy']);
});

test('given other keys, they replace what was there, and the rest stays', () => {
  const before = status();
  const { status: after } = applyChange(before, change({ set: { autostart: true } }));
  assert.deepEqual([after.rev, after.generatedAt, after.autostart], [2, time(5), true]);
  assert.equal(after.totals, before.totals);
});

test('given stale numbers, they are stale until a frame says otherwise, and each turn is a change', () => {
  const before = status(persona('ada'), persona('bo'), persona('constructor'));
  const first = applyChange(before, change({ stale: { bo: time(0) } }));
  assert.deepEqual([...first.changed], ['bo']);
  const stale = (at: StatusWire): unknown =>
    at.personas.flatMap((p) => (p.staleAfter === null ? [] : [[p.id, p.asOf]]));
  assert.deepEqual(stale(first.status), [['bo', time(0)]]);
  const second = applyChange(first.status, change({ generatedAt: time(7), asOf: time(6) }));
  assert.deepEqual([stale(second.status), second.changed.size], [[['bo', time(0)]], 0]);
  const third = applyChange(second.status, change({ generatedAt: time(9), asOf: time(8), stale: {} }));
  assert.deepEqual([stale(third.status), [...third.changed]], [[], ['bo']]);
});

test('given a whole status with stale numbers, they stay stale with the next frame', () => {
  const before = status(persona('ada', { staleAfter: time(1) }));
  assert.equal(applyChange(before, change()).status.personas[0]?.staleAfter, time(0));
});
