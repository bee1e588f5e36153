import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '../../core/board/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { type Hours, openPreferenceStore } from '../actions/index.ts';
import { createQuietHoursService } from './quiet-hours-service.ts';

process.env.TZ = 'UTC';
const HOUR = 3_600_000;
const EVENING = Date.UTC(2026, 5, 10, 21, 30);

function begin(hours: Hours | null, start = EVENING) {
  using stack = new DisposableStack();
  const clock = fakeClock(start);
  const db = stack.use(openDatabase(':memory:'));
  const facts: string[] = [];
  const times: unknown[] = [];
  const put = (fact: Fact): void => {
    assert.ok(fact.is === 'quiet');
    times.push(fact.hours);
    facts.push(
      `${fact.on ? 'on' : 'off'} ${fact.until.is === 'at' ? new Date(fact.until.at).toISOString().slice(11, 16) : ''}`.trimEnd(),
    );
  };
  const preferences = openPreferenceStore(db);
  const open = () => {
    const stop = new AbortController();
    const service = createQuietHoursService({ hours: () => hours, preferences, board: { put }, clock });
    void service.run(stop.signal);
    return { turn: service.turn, [Symbol.dispose]: () => stop.abort() };
  };
  const owned = stack.move();
  return { clock, facts, times, open, preferences, [Symbol.dispose]: () => owned.dispose() };
}

test('hours in the settings are kept, and told at their beginning and end only', async () => {
  using rig = begin({ from: '22:00', to: '07:00' });
  using _ = rig.open();
  await rig.clock.advance(24 * HOUR);
  assert.deepEqual(rig.facts, ['on', 'on 07:00', 'on']);
  assert.deepEqual(rig.times.at(-1), { from: '22:00', to: '07:00' });
});

test('without hours in the settings none are kept until somebody switches them on: then the usual ones, also after a restart', async () => {
  using rig = begin(null, EVENING + HOUR);
  {
    using quiet = rig.open();
    assert.deepEqual(rig.facts, ['off']);
    await rig.clock.advance(24 * HOUR);
    await rig.clock.advance(-24 * HOUR);
    quiet.turn(true);
  }
  using _ = rig.open();
  assert.deepEqual(rig.facts, ['off', 'on 07:00', 'on 07:00']);
});

test('switched off they stay off, whatever the settings say', () => {
  using rig = begin({ from: '00:00', to: '00:00' });
  {
    using quiet = rig.open();
    quiet.turn(false);
  }
  using _ = rig.open();
  assert.deepEqual(rig.facts, ['on 00:00', 'off', 'off']);
});
