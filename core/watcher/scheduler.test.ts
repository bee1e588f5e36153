import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { counted, FULL, fault, filterPolls, MINUTE, RESCAN, roundsRig, SECOND } from '../../test/kit/rounds-rig.ts';
import type { Fact } from '../board/index.ts';
import { exactly } from '../model/index.ts';
import type { Ack } from '../sinks/index.ts';
import type { Watcher } from './watcher.ts';

describe('a tick', () => {
  test('arms every inbox at the start, after one pending call', async (t) => {
    const { since } = await roundsRig(t);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'ada armed', 'bo armed']);
  });

  test('asks the pending list once, however many personas, and looks at none while nothing rises', async (t) => {
    const personas = Array.from({ length: 100 }, (_, i) => `p${i}`);
    const { since, clock, facts } = await roundsRig(t, { personas });
    since();
    facts.length = 0;
    await clock.advance(5 * MINUTE);
    assert.deepEqual(since(), Array(5).fill('pending'));
    const counts = facts.flatMap((fact) => (fact.is === 'counted' ? [fact.counts.length] : []));
    assert.deepEqual(counts, Array(5).fill(100));
  });

  test('looks where unread rose, and only there', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.mail.set('ada', 2);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada new 1', 'ada new 2']);
    world.mail.set('bo', 1);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look bo', 'bo new 1']);
  });

  test('a persona that is absent from the answer has none unread, and its next mail is a rise', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.mail.set('ada', 1);
    await clock.advance(MINUTE);
    world.levels = new Map();
    await clock.advance(MINUTE);
    world.levels = null;
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(filterPolls(since()), ['look ada']);
  });

  test('a count that lies is found out by the floor: after N skips every inbox is looked at', async (t) => {
    const { since, clock, world } = await roundsRig(t, { options: { resyncEvery: 3 } });
    world.levels = new Map();
    world.mail.set('ada', 1);
    since();
    await clock.advance(3 * MINUTE);
    assert.deepEqual(filterPolls(since()), []);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'ada new 1']);
    await clock.advance(3 * MINUTE);
    assert.deepEqual(filterPolls(since()), []);
    await clock.advance(MINUTE);
    assert.equal(filterPolls(since()).length, 2);
  });

  test('a list that repeats itself many times delays neither the floor nor a change', async (t) => {
    const { since, clock, world } = await roundsRig(t, { options: { intervalMs: SECOND, resyncEvery: 12 } });
    world.levels = new Map();
    world.mail.set('ada', 1);
    await clock.advance(SECOND);
    since();
    await clock.advance(11 * SECOND);
    assert.deepEqual(filterPolls(since()), []);
    await clock.advance(SECOND);
    assert.deepEqual(filterPolls(since()), ['look ada', 'look bo']);
    await clock.advance(8 * SECOND);
    world.levels = new Map([['ada', { unread: exactly(1), urgent: exactly(0) }]]);
    await clock.advance(SECOND);
    assert.deepEqual(filterPolls(since()), ['look ada']);
  });

  test('a list that repeats itself delays a heartbeat by at most five seconds', async (t) => {
    const options = { intervalMs: SECOND, resyncEvery: 1000 };
    const { since, clock, world } = await roundsRig(t, { personas: ['ada'], options, rules: { heartbeatMs: MINUTE } });
    world.levels = new Map();
    await clock.advance(2 * SECOND);
    since();
    await clock.advance(MINUTE - 3 * SECOND);
    assert.ok(!since().includes('ada heartbeat'));
    await clock.advance(6 * SECOND);
    assert.deepEqual(
      since().filter((line) => line !== 'pending'),
      ['ada heartbeat'],
    );
  });

  test('a pending list that fails is no reason to be blind: every inbox is looked at', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.faults.set('pending', fault('status'));
    world.mail.set('ada', 1);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'ada new 1']);
    world.faults.clear();
    await clock.advance(MINUTE); // nothing was known: one look more
    await clock.advance(MINUTE);
    assert.equal(filterPolls(since()).length, 2);
  });

  test('a count that is unknown is no answer for that persona', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.levels = new Map([['ada', { unread: { is: 'unknown' }, urgent: { is: 'unknown' } }]]);
    since();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(filterPolls(since()), ['look ada', 'look ada']);
  });

  test('without the endpoint (404) the list is asked for again only at the pace of the floor', async (t) => {
    const { since, clock, world } = await roundsRig(t, { options: { resyncEvery: 3 } });
    world.faults.set('pending', fault('not-found'));
    since();
    await clock.advance(5 * MINUTE);
    const seen = since();
    assert.equal(counted(seen, 'pending'), 2);
    assert.equal(filterPolls(seen).length, 10);
    world.faults.clear();
    await clock.advance(5 * MINUTE);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending']);
  });

  test('without the fast path every tick looks at every inbox, and the list is never asked', async (t) => {
    const { since, clock } = await roundsRig(t, { options: { fastPath: false } });
    since();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(since(), ['look ada', 'look bo', 'look ada', 'look bo']);
  });

  test('an inbox that fails is looked at on every tick until it is well', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.faults.set('ada', fault('status'));
    world.mail.set('ada', 1);
    since();
    await clock.advance(4 * MINUTE);
    assert.deepEqual(since(), [
      'pending',
      'look ada',
      'pending',
      'look ada',
      'pending',
      'look ada',
      'ada alert',
      'pending',
      'look ada',
    ]);
    world.faults.clear();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada recovered', 'ada new 1', 'pending']);
  });

  test('the cadence is that of the interval, whatever the requests take', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.hangs.add('ada');
    world.mail.set('ada', 1);
    since();
    await clock.advance(10 * MINUTE);
    assert.equal(counted(since(), 'pending'), 10);
  });
});

describe('no persona waits for another', () => {
  test('one that hangs is asked once, and the others are looked at as ever', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.hangs.add('ada');
    for (const n of [1, 2, 3]) {
      for (const name of ['ada', 'bo']) world.mail.set(name, n);
      await clock.advance(MINUTE);
    }
    const seen = since();
    assert.equal(counted(seen, 'look ada'), 2);
    assert.deepEqual(
      seen.filter((words) => words.startsWith('bo new')),
      ['bo new 1', 'bo new 2', 'bo new 3'],
    );
  });

  test('ticks that pass while an inbox is busy ask nothing more of it', async (t) => {
    const { since, clock, world } = await roundsRig(t, { personas: ['ada'], options: { fastPath: false } });
    let finish: (ack: Ack) => void = () => {};
    world.take = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    world.mail.set('ada', 1);
    await clock.advance(3 * MINUTE);
    since();
    finish({ is: 'all' });
    await clock.advance(MINUTE - 1);
    assert.deepEqual(since(), ['ada new 1']);
  });

  test('one that hangs from the start does not keep the others from arming', async (t) => {
    const { since, world, clock, start, stop } = await roundsRig(t, { run: false, options: { pollsAtOnce: 2 } });
    world.hangs.add('ada');
    const ended = start();
    await clock.advance(0);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'bo armed']);
    stop.abort();
    await ended;
  });

  test('a sink that takes its time is that of its own persona only', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    let finish: (ack: Ack) => void = () => {};
    const slow = new Promise<Ack>((resolve) => {
      finish = resolve;
    });
    world.take = (name) => (name === 'ada' ? slow : { is: 'all' });
    for (const name of ['ada', 'bo']) world.mail.set(name, 1);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'bo new 1']);
    world.mail.set('bo', 2);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look bo', 'bo new 2']);
    finish({ is: 'all' });
  });

  test('those that failed leave a place for those that did not', async (t) => {
    const options = { pollsAtOnce: 2, fastPath: false };
    const { since, clock, world } = await roundsRig(t, { personas: ['x', 'y', 'ada'], options });
    for (const name of ['x', 'y', 'ada']) world.mail.set(name, 1);
    for (const name of ['x', 'y']) world.faults.set(name, fault('timeout'));
    await clock.advance(MINUTE);
    for (const name of ['x', 'y']) world.hangs.add(name);
    world.mail.set('ada', 2);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['look x', 'look ada', 'ada new 2']);
  });

  test('where unread rose is looked at before anything else, which does not wait for it long', async (t) => {
    const { since, clock, world } = await roundsRig(t, { personas: ['x', 'ada'] });
    world.faults.set('x', fault('timeout'));
    world.mail.set('x', 1);
    await clock.advance(MINUTE); // x is looked at every tick from here on
    world.mail.set('ada', 1);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada new 1', 'look x']);
    world.hangs.add('ada');
    world.mail.set('ada', 2);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada']);
    await clock.advance(5);
    assert.deepEqual(since(), ['look x', 'x alert']);
  });
});

describe('a start', () => {
  test('does not wait for a pending list that hangs: arming begins after a quarter of a second', async (t) => {
    const { since, world, clock, start, stop } = await roundsRig(t, { run: false });
    world.hangs.add('pending');
    const ended = start();
    await clock.advance(249);
    assert.deepEqual(since(), ['pending']);
    await clock.advance(1);
    assert.deepEqual(since(), ['look ada', 'look bo', 'ada armed', 'bo armed']);
    stop.abort();
    await ended;
  });
});

describe('held events', () => {
  test('are offered again on a schedule of their own, however long the interval', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.mail.set('ada', 1);
    world.take = () => FULL;
    await clock.advance(MINUTE);
    since();
    await clock.advance(7 * SECOND);
    assert.deepEqual(since(), Array(3).fill(['look ada', 'ada !new 1']).flat());
    world.take = () => ({ is: 'all' });
    await clock.advance(8 * SECOND);
    assert.deepEqual(since(), ['look ada', 'ada new 1']);
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), []);
  });

  test('do not turn an inbox that fails into a storm, nor a blip into an outage', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.mail.set('ada', 1);
    world.take = () => FULL;
    await clock.advance(MINUTE);
    world.faults.set('ada', fault('status'));
    since();
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), ['look ada']);
    world.faults.clear();
    world.take = () => ({ is: 'all' });
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada new 1']);
  });

  test('that are gone when they are looked for again are not looked for for ever', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.mail.set('ada', 1);
    world.take = () => FULL;
    await clock.advance(MINUTE);
    world.mail.clear();
    since();
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), ['look ada']);
  });

  test('a heartbeat that was refused is offered again, with the same patience', async (t) => {
    const { since, clock, world } = await roundsRig(t, { personas: ['ada'], rules: { heartbeatMs: MINUTE } });
    world.take = () => FULL;
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'ada !heartbeat']);
    await clock.advance(3 * SECOND);
    assert.deepEqual(since(), ['look ada', 'ada !heartbeat', 'look ada', 'ada !heartbeat']);
    world.take = () => ({ is: 'all' });
    await clock.advance(40 * SECOND);
    assert.deepEqual(since(), ['look ada', 'ada heartbeat']);
  });
});

describe('the end', () => {
  for (const request of ['pending', 'ada', 'personas'] as const) {
    test(`comes at once while ${request} hangs, closes every sink, and leaves no timer`, async (t) => {
      const { world, clock, since, ended, stop } = await roundsRig(t, { adopts: true });
      world.hangs.add(request);
      world.mail.set('ada', 1);
      await clock.advance(request === 'personas' ? RESCAN : MINUTE);
      since();
      stop.abort();
      await ended;
      assert.equal(clock.waiting, 0);
      assert.deepEqual(since(), ['hints end', 'close ada', 'close bo']);
    });
  }

  test('comes at once in the middle of a hold, of a wait for the next hold, and of a wait to try a sink again', async (t) => {
    for (const trouble of ['none', 'hold', 'sink']) {
      const { world, clock, ended, stop } = await roundsRig(t, { holds: true });
      if (trouble === 'hold') world.faults.set('hold', fault('broken'));
      if (trouble === 'sink') world.take = () => FULL;
      world.mail.set('ada', 1);
      world.cursor = 'c2';
      world.news();
      await clock.advance(500);
      stop.abort();
      await ended;
      assert.equal(clock.waiting, 0, trouble);
    }
  });

  test('waits for what the sink has in hand, and says it', async (t) => {
    const { world, clock, ended, stop, since } = await roundsRig(t, { personas: ['ada'] });
    let finish: (ack: Ack) => void = () => {};
    world.take = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    world.mail.set('ada', 1);
    await clock.advance(MINUTE);
    since();
    stop.abort();
    await clock.advance(0);
    assert.deepEqual(since(), ['hints end']);
    finish({ is: 'all' });
    await ended;
    assert.deepEqual(since(), ['ada new 1', 'close ada']);
  });

  test('a persona whose watch was being opened is closed too, unseen', async (t) => {
    const { world, clock, ended, stop, since, openWatcher } = await roundsRig(t, { personas: ['ada'], adopts: true });
    let opened: (watcher: Watcher) => void = () => {};
    world.open = () =>
      new Promise((resolve) => {
        opened = resolve;
      });
    world.hint('cy');
    await clock.advance(0);
    since();
    stop.abort();
    await clock.advance(0);
    opened(openWatcher('cy', { is: 'born' }));
    await ended;
    assert.deepEqual(since(), ['hints end', 'close ada', 'close cy']);
  });

  test('a fault that `looked` throws is the end, for everything, with that fault', async (t) => {
    const { world, clock, ended, since } = await roundsRig(t);
    const fatal = fault('not-found');
    world.polled = () => {
      throw fatal;
    };
    world.mail.set('ada', 1);
    const failed = assert.rejects(ended, (error) => error === fatal);
    await clock.advance(MINUTE);
    await failed;
    assert.deepEqual(since().slice(-2), ['close ada', 'close bo']);
    assert.equal(clock.waiting, 0);
  });
});

describe('F1 what the counts of a hive hide', () => {
  const level = (unread: number, urgent = 0) => ({ unread: exactly(unread), urgent: exactly(urgent) });

  test('F1 a count that falls is fetched within the same turn: three were read while one came', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, hidesChanges: true });
    world.levels = new Map([['ada', level(3)]]);
    world.cursor = 'c2';
    world.news();
    await clock.advance(SECOND);
    since();
    world.mail.set('ada', 1);
    world.levels = new Map([['ada', level(1)]]);
    world.cursor = 'c3';
    world.news();
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'ada new 1', 'hold c3 50000']);
  });

  test('F1 an urgent count that changes alone is fetched', async (t) => {
    const { since, clock, world } = await roundsRig(t);
    world.levels = new Map([['ada', level(1)]]);
    await clock.advance(MINUTE);
    since();
    world.mail.set('ada', 1);
    world.levels = new Map([['ada', level(1, 1)]]);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada new 1']);
  });

  test('F1 a count that fell while a look was under way is compared with the one before, not forgotten', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, personas: ['ada'] });
    const say = async (unread: number): Promise<void> => {
      world.levels = new Map([['ada', level(unread)]]);
      world.cursor = `c${unread}`;
      world.news();
      await clock.advance(0);
    };
    world.slow.set('ada', 10);
    await say(3);
    await say(1);
    await clock.advance(SECOND);
    since();
    world.mail.set('ada', 1);
    await say(2);
    await clock.advance(10);
    assert.ok(since().includes('ada new 1'));
  });

  test('F1 a cursor that moves while every count stands has every inbox fetched within the same turn', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, hidesChanges: true });
    world.levels = new Map([['ada', level(1)]]);
    world.cursor = 'c2';
    world.news();
    await clock.advance(SECOND);
    since();
    world.mail.set('ada', 1);
    world.cursor = 'c3';
    world.news();
    await clock.advance(0);
    assert.deepEqual(since().toSorted(), ['ada new 1', 'hold c3 50000', 'look ada', 'look bo']);
  });

  test('F1 what one count explains is fetched at once, and what hides behind it within a minute, once', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, hidesChanges: true });
    since();
    world.levels = new Map([['ada', level(1)]]);
    world.mail.set('bo', 1); // came, and another one was read
    world.cursor = 'c2';
    world.news();
    await clock.advance(0);
    assert.deepEqual(filterPolls(since()), ['look ada']);
    await clock.advance(MINUTE);
    assert.deepEqual(
      since().filter((words) => words.includes('bo')),
      ['look bo', 'bo new 1'],
    );
    await clock.advance(4 * MINUTE);
    assert.deepEqual(filterPolls(since()), [], 'quiet, nothing is fetched');
  });

  test('F1 a persona that nobody watches explains a move, and costs no fetch at once', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, hidesChanges: true });
    since();
    world.levels = new Map([['stranger', level(1)]]);
    world.cursor = 'c2';
    world.news();
    await clock.advance(0);
    assert.deepEqual(since(), ['hold c2 50000']);
  });

  test('F1 after a hold that broke every inbox is fetched with the next answer, whatever its cursor', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, hidesChanges: true });
    world.faults.set('hold', fault('broken'));
    world.cursor = 'c2';
    world.levels = new Map([['ada', level(1)]]);
    world.news(); // this one is answered; the next question breaks
    await clock.advance(SECOND);
    since();
    world.faults.clear();
    world.mail.set('ada', 1);
    await clock.advance(SECOND);
    world.news();
    await clock.advance(SECOND);
    assert.deepEqual(filterPolls(since()), ['look ada', 'look bo']);
  });

  test('F1 without a cursor every inbox is fetched at least once a minute, however often the list is asked', async (t) => {
    const fast = await roundsRig(t, { hidesChanges: true, options: { intervalMs: SECOND, resyncEvery: 1000 } });
    fast.since();
    await fast.clock.advance(58 * SECOND);
    assert.deepEqual(filterPolls(fast.since()), []);
    await fast.clock.advance(2 * SECOND);
    assert.deepEqual(filterPolls(fast.since()), ['look ada', 'look bo']);
    const slow = await roundsRig(t, { hidesChanges: true });
    slow.since();
    await slow.clock.advance(2 * MINUTE);
    assert.equal(filterPolls(slow.since()).length, 4);
  });

  test('F1 a server that moves its cursor with each answer and never holds is asked once a second', async (t) => {
    const { since, clock, world } = await roundsRig(t, { holds: true, hidesChanges: true, options: { holdMs: 0 } });
    world.during = (request) => {
      if (request === 'hold') world.cursor = `c${clock.now()}-${Math.random()}`;
    };
    since();
    await clock.advance(10 * SECOND);
    assert.ok(counted(since(), 'hold') <= 12);
  });
});

describe('F2 how much is urgent', () => {
  const listUrgent = (facts: readonly Fact[]) =>
    facts.flatMap((fact) => (fact.is === 'polled' && fact.persona === 'ada' ? [fact.urgent] : []));

  test('F2 a look keeps the urgent count of the answer that led to it, before its mail is told', async (t) => {
    const { clock, world, facts } = await roundsRig(t, { knowsUrgent: false });
    facts.length = 0;
    world.mail.set('ada', 1);
    world.levels = new Map([['ada', { unread: exactly(1), urgent: exactly(1) }]]);
    await clock.advance(MINUTE);
    assert.deepEqual(listUrgent(facts), [exactly(1)]);
    assert.deepEqual(
      facts.filter(({ is }) => is === 'polled' || is === 'delivered').map(({ is }) => is),
      ['polled', 'delivered'],
    );
  });

  test('F2 what was read since the answer is not counted as urgent, and more than it says may be', async (t) => {
    const { clock, world, facts } = await roundsRig(t, { knowsUrgent: false });
    for (const [listed, found, urgent] of [
      [2, 3, { is: 'atLeast', n: 1 }],
      [3, 0, exactly(0)],
    ] as const) {
      facts.length = 0;
      world.mail.set('ada', found);
      world.levels = new Map([['ada', { unread: exactly(listed), urgent: exactly(1) }]]);
      await clock.advance(MINUTE);
      assert.deepEqual(listUrgent(facts), [urgent]);
    }
  });
});
