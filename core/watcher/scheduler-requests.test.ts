import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fault, filterPolls, roundsRig, SECOND } from '../../test/kit/rounds-rig.ts';
import type { Ack } from '../sinks/index.ts';

describe('pokes', () => {
  test('fifty at once are one tick; forced, it looks at every inbox whatever the list says', async (t) => {
    const { since, clock, rounds } = await roundsRig(t);
    since();
    for (let i = 0; i < 50; i++) rounds.poke(true);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo']);
    await clock.advance(50 * SECOND);
    assert.deepEqual(since(), []);
  });

  test('a burst within five milliseconds is one tick', async (t) => {
    const { since, clock, rounds } = await roundsRig(t);
    since();
    for (let i = 0; i < 5; i++) {
      rounds.poke(false);
      await clock.advance(1);
    }
    assert.deepEqual(since(), ['pending']);
  });

  test('an ordinary one is a tick like any other: it asks the list, and looks where unread rose', async (t) => {
    const { since, clock, rounds, world } = await roundsRig(t);
    since();
    world.mail.set('bo', 1);
    rounds.poke(false);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look bo', 'bo new 1']);
  });

  test('an ordinary one beside a forced one is forced', async (t) => {
    const { since, clock, rounds } = await roundsRig(t);
    since();
    rounds.poke(true);
    rounds.poke(false);
    await clock.advance(5);
    assert.equal(filterPolls(since()).length, 2);
  });

  test('polls so caused count as failures like any other, however soon they come', async (t) => {
    const { since, clock, rounds, world } = await roundsRig(t, { personas: ['ada'] });
    world.faults.set('ada', fault('status'));
    for (const force of [true, false, false]) {
      rounds.poke(force);
      await clock.advance(5);
    }
    assert.ok(since().includes('ada alert'));
  });

  test('any number during a fetch makes exactly one fetch more, after it', async (t) => {
    const { since, clock, rounds, world } = await roundsRig(t, { personas: ['ada'] });
    let finish: (ack: Ack) => void = () => {};
    world.take = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    world.mail.set('ada', 1);
    rounds.poke(true);
    await clock.advance(5);
    since();
    for (let i = 0; i < 10; i++) {
      rounds.poke(true);
      await clock.advance(5);
    }
    assert.deepEqual(filterPolls(since()), []);
    world.take = () => ({ is: 'all' });
    finish({ is: 'all' });
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), ['ada new 1', 'look ada']);
  });

  test('one that comes while the list is being asked is one tick more, at once', async (t) => {
    const { since, clock, rounds, world } = await roundsRig(t, { personas: ['ada'] });
    world.during = () => {
      world.during = () => {};
      rounds.poke(true);
    };
    since();
    rounds.poke(false);
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), ['pending', 'pending', 'look ada']);
  });

  test('one from before the start is part of the first tick', async (t) => {
    const { since, clock, rounds, start, stop } = await roundsRig(t, { run: false });
    rounds.poke(true);
    const ended = start();
    await clock.advance(30 * SECOND);
    assert.equal(filterPolls(since()).length, 2);
    stop.abort();
    await ended;
  });
});

describe('a wake', () => {
  test('looks at that inbox alone, at once, without the list', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.mail.set('bo', 1);
    since();
    world.hint('bo');
    await clock.advance(0);
    assert.deepEqual(since(), ['look bo', 'bo new 1']);
  });

  test('for a name nobody knows is nothing where the set is fixed', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    since();
    world.hint('cy');
    await clock.advance(0);
    assert.deepEqual(since(), []);
  });

  test('after the end does nothing', async (t) => {
    const { since, rounds, stop, ended } = await roundsRig(t);
    stop.abort();
    await ended;
    since();
    rounds.wake('ada');
    rounds.poke(true);
    assert.deepEqual(since(), []);
  });
});
