import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  counted,
  fault,
  filterPolls,
  MINUTE,
  type RoundsSetting,
  roundsRig,
  SECOND,
} from '../../test/kit/rounds-rig.ts';

describe('the held pending list', () => {
  const holding: RoundsSetting = { holds: true, personas: ['ada'] };

  test('takes the place of the sleep: quiet, it is asked once a hold, and nothing else', async (t) => {
    const { since, clock, world } = await roundsRig(t, holding);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000', 'ada armed']);
    world.cursor = 'c2';
    await clock.advance(50 * SECOND);
    assert.deepEqual(since(), ['hold c2 50000']);
  });

  test('echoes the cursor of the last answer, and looks at once where unread rose', async (t) => {
    const { since, clock, world } = await roundsRig(t, holding);
    world.mail.set('ada', 1);
    world.cursor = 'opaque/2';
    since();
    world.news();
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'ada new 1', 'hold opaque/2 50000']);
  });

  test('is cut by a poke', async (t) => {
    const { since, clock, rounds } = await roundsRig(t, holding);
    since();
    rounds.poke(true);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000']);
  });

  test('a poke is never answered from before it: an answer that is older is dropped', async (t) => {
    const { since, clock, rounds, world } = await roundsRig(t, holding);
    world.news(); // the server answers early and without news, which is taken slowly
    await clock.advance(100);
    since();
    world.mail.set('ada', 1);
    rounds.poke(false);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada new 1', 'hold c1 50000']);
  });

  test('a hold that fails is tried again after 2, 4, 8 s with the same cursor; ticks come at the interval meanwhile', async (t) => {
    const { since, clock, world } = await roundsRig(t, holding);
    world.faults.set('hold', fault('broken'));
    world.cursor = 'c2';
    world.news();
    await clock.advance(1 * SECOND);
    since();
    await clock.advance(14 * SECOND);
    assert.deepEqual(since(), ['hold c2 50000', 'hold c2 50000', 'hold c2 50000']);
    await clock.advance(45 * SECOND);
    assert.equal(counted(since(), 'pending'), 1);
    world.faults.clear();
    await clock.advance(30 * SECOND);
    since();
    world.mail.set('ada', 1);
    world.cursor = 'c3';
    world.news();
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'ada new 1', 'hold c3 50000']);
  });

  test('a hive that goes away for seconds is no outage: its inboxes fail at the pace of the interval', async (t) => {
    const { since, clock, world, facts } = await roundsRig(t, holding);
    for (const request of ['hold', 'pending', 'ada']) world.faults.set(request, fault('refused'));
    world.cursor = 'c2';
    world.news();
    since();
    await clock.advance(59 * SECOND);
    assert.ok(filterPolls(since()).length <= 1);
    world.faults.clear();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(
      facts.filter((fact) => fact.is === 'delivered' && fact.events.some(({ event }) => event === 'alert')),
      [],
    );
  });

  test('a busy hive does not turn the blip of one inbox into an outage', async (t) => {
    const { clock, world, since } = await roundsRig(t, { holds: true, personas: ['ada', 'bo'] });
    world.faults.set('ada', fault('status'));
    world.mail.set('ada', 1);
    since();
    for (let n = 1; n <= 10; n++) {
      world.mail.set('bo', n);
      world.cursor = `n${n}`;
      world.news();
      await clock.advance(SECOND);
    }
    const seen = since();
    assert.equal(counted(seen, 'bo new'), 10);
    assert.equal(counted(seen, 'look ada'), 1);
    world.faults.clear();
    await clock.advance(MINUTE);
    assert.ok(since().includes('ada new 1'));
  });

  test('while an inbox fails the hold is no longer than the interval, so that its failures are counted in time', async (t) => {
    const { clock, world, since } = await roundsRig(t, { ...holding, options: { intervalMs: 10 * SECOND } });
    world.faults.set('ada', fault('status'));
    world.mail.set('ada', 1);
    world.cursor = 'c2';
    world.news();
    await clock.advance(0);
    world.cursor = 'c3';
    await clock.advance(50 * SECOND);
    since();
    await clock.advance(30 * SECOND);
    assert.equal(filterPolls(since()).length, 3);
  });

  test('S5: while an inbox fails, a hive that takes the question and never answers makes no tick late', async (t) => {
    const { clock, world, since } = await roundsRig(t, holding);
    for (const request of ['pending', 'ada']) world.faults.set(request, fault('timeout'));
    world.mail.set('ada', 1);
    world.cursor = 'c2';
    world.news();
    await clock.advance(0);
    world.hangs.add('hold');
    await clock.advance(2 * MINUTE);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since().slice(0, 2), ['pending', 'look ada']);
    world.faults.clear();
    await clock.advance(MINUTE);
    assert.deepEqual(since().slice(0, 2), ['pending', 'look ada'], 'and healed it is seen one interval later');
  });

  test('a first answer that comes after the first looks is news, and the list is held from it on, however long the interval is', async (t) => {
    const rig = await roundsRig(t, { ...holding, options: { intervalMs: 60 * MINUTE }, run: false });
    const { world, clock, since } = rig;
    world.slow.set('pending', 3 * SECOND);
    world.mail.set('ada', 1);
    rig.start().catch(() => {});
    await clock.advance(SECOND);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada baseline_skipped', 'ada armed']);
    await clock.advance(2 * SECOND);
    assert.deepEqual(since(), ['look ada', 'hold c1 50000']);
  });

  test('a first question that fails is asked again after 2, 4, 8 s, however long the interval is', async (t) => {
    const rig = await roundsRig(t, { ...holding, options: { intervalMs: 60 * MINUTE }, run: false });
    const { world, clock, since } = rig;
    world.faults.set('pending', fault('timeout'));
    rig.start().catch(() => {});
    await clock.advance(0);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada armed']);
    await clock.advance(7 * SECOND);
    assert.deepEqual(since(), ['pending', 'pending']);
    world.faults.clear();
    await clock.advance(7 * SECOND);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000']);
  });

  test('a poke while the first answer is late is not held up by it', async (t) => {
    const rig = await roundsRig(t, { ...holding, run: false });
    const { world, clock, since, rounds } = rig;
    world.hangs.add('pending');
    rig.start().catch(() => {});
    await clock.advance(SECOND);
    since();
    world.hangs.clear();
    rounds.poke(true);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000']);
  });

  test('a server without the list is not asked for it between ticks', async (t) => {
    const rig = await roundsRig(t, { ...holding, run: false });
    const { world, clock, since } = rig;
    world.faults.set('pending', fault('not-found'));
    rig.start().catch(() => {});
    await clock.advance(59 * SECOND);
    assert.equal(counted(since(), 'pending'), 1);
  });

  test('a server that stops to long-poll (no cursor) is asked at the interval, and held again when it can', async (t) => {
    const { clock, world, since } = await roundsRig(t, holding);
    world.cursor = null;
    world.news();
    await clock.advance(0);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending']);
    world.cursor = 'c9';
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'hold c9 50000']);
  });

  test('a server that answers at once without news is not asked in a circle', async (t) => {
    const { clock, world, since } = await roundsRig(t, { ...holding, options: { holdMs: 0 } });
    since();
    await clock.advance(10 * SECOND);
    assert.equal(counted(since(), 'hold'), 10);
    assert.equal(world.cursor, 'c1');
  });

  test('is not used without the fast path, nor when switched off', async (t) => {
    const off = await roundsRig(t, { ...holding, options: { holdMs: null } });
    await off.clock.advance(MINUTE);
    assert.equal(counted(off.since(), 'hold'), 0);
    const baseline = await roundsRig(t, { ...holding, options: { fastPath: false } });
    await baseline.clock.advance(MINUTE);
    assert.equal(counted(baseline.since(), 'hold'), 0);
  });
});
