import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { counted, FULL, fault, filterPolls, MINUTE, RESCAN, roundsRig, SECOND } from '../../test/kit/rounds-rig.ts';

const alerts = (seen: readonly string[]) => seen.filter((words) => words.endsWith(' alert'));

describe('after a gap', () => {
  test('the hold is cut, connections are dropped, and every inbox is looked at, at once', async (t) => {
    const { rounds, clock, since } = await roundsRig(t, { holds: true });
    await clock.advance(SECOND);
    since();
    rounds.renew();
    await clock.advance(5);
    assert.deepEqual(since(), ['reset', 'pending', 'look ada', 'look bo', 'hold c1 50000']);
  });

  test('without a hold just so: nobody waits for the interval', async (t) => {
    const { rounds, clock, since } = await roundsRig(t);
    since();
    rounds.renew();
    await clock.advance(5);
    assert.deepEqual(since(), ['reset', 'pending', 'look ada', 'look bo']);
  });

  test('looks that hang on a dead connection are cut without being failures, and begun again', async (t) => {
    const { rounds, clock, world, since, facts } = await roundsRig(t, { options: { pollsAtOnce: 1 } });
    world.hangs.add('ada').add('bo');
    await clock.advance(10 * MINUTE); // the floor: both hang, one of them for a place
    world.hangs.clear();
    world.mail.set('ada', 1);
    since();
    rounds.renew();
    await clock.advance(5);
    const seen = since();
    assert.ok(counted(seen, 'look ada') >= 1 && counted(seen, 'look bo') >= 1, seen.join('; '));
    assert.ok(seen.includes('ada new 1'));
    assert.deepEqual(
      facts.filter((fact) => fact.is === 'failed'),
      [],
    );
  });

  test('a pending list that hangs is asked anew, and its inboxes are looked at once', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, { personas: ['ada'] });
    world.hangs.add('pending');
    await clock.advance(MINUTE);
    world.hangs.clear();
    since();
    rounds.renew();
    await clock.advance(5);
    assert.deepEqual(since(), ['reset', 'pending', 'look ada']);
  });

  test('what is with the sink is not cut: nothing is told twice', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, { personas: ['ada'] });
    let answer = (): void => {};
    world.take = () =>
      new Promise((resolve) => {
        answer = () => resolve({ is: 'all' });
      });
    world.mail.set('ada', 1);
    await clock.advance(MINUTE);
    since();
    rounds.renew();
    await clock.advance(5);
    answer();
    await clock.advance(MINUTE);
    assert.equal(counted(since(), 'ada new 1'), 1);
  });

  test('no wait after a failed hold is kept', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, { holds: true, options: { intervalMs: 10 * MINUTE } });
    world.faults.set('hold', fault('refused'));
    world.cursor = 'c2';
    world.news();
    await clock.advance(5 * MINUTE);
    since();
    rounds.renew();
    await clock.advance(5);
    since();
    await clock.advance(2 * SECOND);
    assert.equal(counted(since(), 'hold'), 1, 'the first wait again');
  });

  test('a server without a list is asked for one again at once', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t);
    world.faults.set('pending', fault('not-found'));
    await clock.advance(2 * MINUTE);
    world.faults.clear();
    since();
    rounds.renew();
    await clock.advance(5);
    assert.equal(counted(since(), 'pending'), 1);
  });

  test('held events are offered again at once', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, { personas: ['ada'] });
    world.take = () => FULL;
    world.mail.set('ada', 1);
    await clock.advance(10 * MINUTE); // by now once in 30 s
    world.take = () => ({ is: 'all' });
    since();
    rounds.renew();
    await clock.advance(5);
    assert.ok(since().includes('ada new 1'));
  });

  test('the directory is read at once; a reading that hangs is cut without being a failure', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, { personas: ['ada'], adopts: true });
    world.directory = ['ada', 'cy'];
    await clock.advance(MINUTE);
    since();
    rounds.renew();
    await clock.advance(5);
    assert.ok(since().includes('open cy'));
    world.hangs.add('personas');
    await clock.advance(RESCAN);
    world.hangs.clear();
    world.directory = ['ada', 'cy', 'di'];
    since();
    rounds.renew();
    await clock.advance(5);
    assert.ok(since().includes('open di'));
    assert.deepEqual(world.rescanFailures, []);
  });

  test('failures of the grace time count but make no outage; one that lasts is told with the first failure after it', async (t) => {
    const { rounds, clock, world, since, facts } = await roundsRig(t, {
      personas: ['ada'],
      options: { intervalMs: 10 * SECOND },
    });
    for (const request of ['ada', 'pending']) world.faults.set(request, fault('refused'));
    world.settling = () => clock.monotonic() < 30 * SECOND;
    since();
    rounds.renew();
    await clock.advance(30 * SECOND - 1);
    assert.deepEqual(alerts(since()), []);
    const last = facts.at(-1);
    assert.deepEqual(last?.is === 'failed' && last.health, { is: 'failing', failures: 3, why: 'refused' });
    await clock.advance(10 * SECOND);
    assert.deepEqual(alerts(since()), ['ada alert']);
  });

  test('a network that takes 20 s to wake up is no outage', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, {
      personas: ['ada'],
      options: { intervalMs: 5 * SECOND },
    });
    for (const request of ['ada', 'pending']) world.faults.set(request, fault('refused'));
    world.settling = () => clock.monotonic() < 30 * SECOND;
    rounds.renew();
    await clock.advance(20 * SECOND);
    world.faults.clear();
    await clock.advance(MINUTE);
    assert.deepEqual(
      since().filter((words) => words.endsWith('alert') || words.endsWith('recovered')),
      [],
    );
  });

  test('an answer that shows the gap is told after it', async (t) => {
    const { rounds, clock, world, since } = await roundsRig(t, { personas: ['ada'] });
    let slept = true;
    world.settling = () => {
      if (slept) rounds.renew(); // as the gap's listener does
      slept = false;
      return true;
    };
    world.mail.set('ada', 1);
    since();
    await clock.advance(MINUTE + 5);
    const seen = since();
    assert.ok(seen.indexOf('reset') < seen.indexOf('ada new 1'));
    assert.equal(counted(seen, 'ada new 1'), 1);
  });

  test('a failure that shows the gap is none', async (t) => {
    const { rounds, clock, world, since, facts } = await roundsRig(t, { personas: ['ada'], rules: { alertAfter: 1 } });
    let slept = true;
    world.settling = () => {
      if (slept) rounds.renew();
      slept = false;
      world.faults.clear();
      return true;
    };
    for (const request of ['ada', 'pending']) world.faults.set(request, fault('timeout'));
    since();
    await clock.advance(MINUTE + 5);
    assert.equal(filterPolls(since()).length, 2);
    assert.deepEqual(
      facts.filter((fact) => fact.is === 'failed'),
      [],
    );
  });
});
