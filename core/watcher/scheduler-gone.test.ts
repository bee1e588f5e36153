import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FULL, fault, MINUTE, RESCAN, roundsRig, SECOND } from '../../test/kit/rounds-rig.ts';

describe('who is not in the source any more', () => {
  test('is looked at once more, told what there is to tell, and let go', async (t) => {
    const { since, clock, world, facts } = await roundsRig(t, { tracks: true });
    since();
    facts.length = 0;
    world.mail.set('ada', 1);
    world.gone.add('ada');
    world.hint('ada');
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'ada new 1', 'close ada']);
    assert.deepEqual(
      facts.filter(({ is }) => is === 'left'),
      [{ is: 'left', at: clock.now(), persona: 'ada' }],
    );
    await clock.advance(3 * MINUTE);
    assert.ok(!since().some((line) => line.includes('ada')));
  });

  test('stays for as long as the sink refuses what is to be told', async (t) => {
    const { since, clock, world, facts } = await roundsRig(t, { tracks: true });
    world.take = () => FULL;
    world.mail.set('ada', 1);
    world.gone.add('ada');
    world.hint('ada');
    await clock.advance(0);
    assert.ok(!facts.some(({ is }) => is === 'left'));
    world.take = () => ({ is: 'all' });
    since();
    await clock.advance(SECOND);
    assert.deepEqual(since(), ['look ada', 'ada new 1', 'close ada']);
    assert.ok(facts.some(({ is }) => is === 'left'));
  });

  test('hears what came to its end while its last mail was delivered, and is let go', async (t) => {
    const { since, clock, world, facts, watchers } = await roundsRig(t, { tracks: true });
    const { signal } = new AbortController();
    world.take = (_, names) => {
      const hear = (): void => void watchers[0]?.hearAgent({ is: 'waiting', why: 'permission' }, signal);
      if (names.includes('new 1')) queueMicrotask(hear); // the board says it a moment later
      return { is: 'all' };
    };
    world.mail.set('ada', 1);
    world.gone.add('ada');
    since();
    world.hint('ada');
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'ada new 1', 'ada waiting', 'close ada']);
    assert.ok(facts.some(({ is }) => is === 'left'));
  });

  test('goes without a word when it cannot be looked at', async (t) => {
    const { since, clock, world, facts } = await roundsRig(t, { tracks: true });
    world.faults.set('ada', fault('garden'));
    world.gone.add('ada');
    since();
    world.hint('ada');
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'close ada']);
    assert.ok(facts.some(({ is }) => is === 'left'));
  });

  test('comes back as anybody who appears', async (t) => {
    const { since, clock, world } = await roundsRig(t, { tracks: true, adopts: true });
    world.gone.add('ada');
    world.hint('ada');
    await clock.advance(0);
    world.gone.clear();
    since();
    world.directory = ['ada', 'bo'];
    await clock.advance(RESCAN + MINUTE);
    assert.ok(since().includes('open ada'));
  });

  test('a source whose members only come lets nobody go', async (t) => {
    const { clock, world, facts } = await roundsRig(t);
    world.gone.add('ada');
    await clock.advance(3 * MINUTE);
    assert.ok(!facts.some(({ is }) => is === 'left'));
  });
});
