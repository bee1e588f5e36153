import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { counted, fault, MINUTE, RESCAN, type RoundsSetting, roundsRig } from '../../test/kit/rounds-rig.ts';
import type { Watcher } from './watcher.ts';

describe('a persona that appears while running', () => {
  const adopting: RoundsSetting = { personas: ['ada'], adopts: true };

  test('is adopted when the pending list names it, and its first mail is new', async (t) => {
    const { since, clock, world } = await roundsRig(t, adopting);
    world.mail.set('cy', 1);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'open cy', 'look cy', 'cy persona_added', 'cy armed', 'cy new 1']);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending']);
  });

  test('is adopted when a hint names it, at once', async (t) => {
    const { since, clock, world } = await roundsRig(t, adopting);
    since();
    world.mail.set('cy', 1);
    world.hint('cy');
    world.hint('cy');
    await clock.advance(0);
    assert.deepEqual(since(), ['open cy', 'look cy', 'cy persona_added', 'cy armed', 'cy new 1']);
  });

  test('is adopted when a rescan finds it, also without mail', async (t) => {
    const { since, clock, world } = await roundsRig(t, adopting);
    world.directory = ['ada', 'cy'];
    await clock.advance(RESCAN - 1);
    assert.equal(counted(since(), 'personas'), 0);
    await clock.advance(1);
    assert.deepEqual(
      since().filter((words) => /cy|personas/.test(words)),
      ['personas', 'open cy', 'look cy', 'cy persona_added', 'cy armed'],
    );
  });

  test('is opened once, however many speak of it meanwhile', async (t) => {
    const { since, clock, world, openWatcher } = await roundsRig(t, adopting);
    let opened: (watcher: Watcher) => void = () => {};
    world.open = () =>
      new Promise((resolve) => {
        opened = resolve;
      });
    world.mail.set('cy', 1);
    world.hint('cy');
    await clock.advance(2 * MINUTE);
    world.hint('cy');
    opened(openWatcher('cy', { is: 'born' }));
    await clock.advance(MINUTE);
    assert.equal(counted(since(), 'open cy'), 1);
  });

  test('a rescan only adds: a name that is gone is still watched', async (t) => {
    const { since, clock, world } = await roundsRig(t, adopting);
    world.directory = [];
    await clock.advance(RESCAN);
    since();
    world.mail.set('ada', 1);
    await clock.advance(MINUTE);
    assert.ok(since().includes('ada new 1'));
  });

  test('one that cannot be opened is tried again on the next rescan, not on every tick, and stops nobody', async (t) => {
    const { since, clock, world } = await roundsRig(t, adopting);
    const { open } = world;
    world.open = () => Promise.resolve(null);
    world.directory = ['ada', 'cy'];
    world.mail.set('cy', 1);
    since();
    await clock.advance(RESCAN - 1);
    assert.equal(counted(since(), 'open cy'), 1);
    world.open = open;
    await clock.advance(1);
    assert.ok(since().includes('cy new 1'));
  });

  test('a rescan that fails is said once, and tried again every minute', async (t) => {
    const { since, clock, world } = await roundsRig(t, adopting);
    world.faults.set('personas', fault('status'));
    await clock.advance(RESCAN + 5 * MINUTE);
    assert.equal(counted(since(), 'personas'), 6);
    world.faults.set('personas', fault('timeout'));
    await clock.advance(MINUTE);
    world.faults.delete('personas');
    await clock.advance(MINUTE + RESCAN - 1);
    assert.equal(counted(since(), 'personas'), 2, 'once it works, at its own time');
    world.faults.set('personas', fault('timeout'));
    await clock.advance(1);
    assert.deepEqual(
      world.rescanFailures.map(({ code }) => code),
      ['status', 'timeout', 'timeout'],
    );
  });
});
