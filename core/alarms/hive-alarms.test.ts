import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { Event, HiveAlarmEvent } from '../events/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault } from '../model/index.ts';
import type { DirectoryMember, Source } from '../sources/index.ts';
import { createHiveAlarms } from './hive-alarms.ts';

const MINUTE = 60_000;
const CUT = new Fault('broken', 'cut', { is: 'source', key: 'kijito' });
const DOWN = { is: 'failing', failures: 1, why: 'broken' } as const;
const MEMBER: DirectoryMember = { memories: 5, retired: false, writeOnly: false, mail: null };
const EMPTY_HANDED: DirectoryMember = { ...MEMBER, memories: 0 };

function bench(watched: readonly string[], suppressed: readonly string[] = [], others: readonly string[] = []) {
  const clock = fakeClock();
  const log: string[] = [];
  const reported: string[] = [];
  const world = {
    members: new Map<string, DirectoryMember>([...watched, ...others].map((name) => [name, MEMBER])),
    unread: new Map<string, readonly [unread: number, urgent: number]>(),
    directoryFails: false,
    asked: 0,
    refuses: new Set<string>(),
    walkAt: null as number | null,
    isTelling: false,
  };
  let roll = { requestedAt: clock.monotonic(), byAddress: new Map(world.members) };
  const source: Source = {
    id: 'kijito',
    kind: 'kijito-inbox',
    async personas() {
      world.asked += 1;
      if (world.directoryFails) throw new Error('cut');
      roll = { requestedAt: clock.monotonic(), byAddress: new Map(world.members) };
      return [];
    },
    directory: () => roll,
    poll: () => assert.fail('nobody looks here'),
    [Symbol.asyncDispose]: async () => {},
  };
  const write = (line: string): void => void log.push(line);
  const alarms = createHiveAlarms({
    source,
    clock,
    log: { info: write, warn: write, error: write },
    rules: { stranded: true, urgent: true, pollMs: MINUTE, suppressed: new Set(suppressed) },
    staleAfterMs: 3 * MINUTE,
  });
  const join = (address: string): void =>
    alarms.addWatcher({
      persona: { id: address, address },
      get walkAt() {
        return world.walkAt;
      },
      get isDelivering() {
        return world.isTelling;
      },
      retryAt: null,
      async deliverAlarm(alarm: HiveAlarmEvent) {
        if (world.refuses.has(address)) return false;
        const names = alarm.reason === 'stranded' ? alarm.stranded_inboxes : alarm.urgent_unanswered;
        reported.push(`${address} ${alarm.reason} ${names.join(' ')}`);
        return true;
      },
    });
  for (const name of watched) join(name);
  const { signal } = new AbortController();
  const health = { is: 'up', since: 0 } as const;
  const levels = { unread: exactly(0), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED };
  return {
    alarms,
    clock,
    world,
    join,
    since: () => reported.splice(0).sort(),
    lines: () => log.splice(0),
    /** Minutes, each with a look at every inbox but those, and then the list. */
    async polls(times: number, but: readonly string[] = []) {
      for (let n = 0; n < times; n += 1) {
        await clock.advance(MINUTE);
        const at = clock.now();
        for (const persona of watched)
          if (!but.includes(persona)) alarms.put({ is: 'polled', at, persona, health, ...levels, cursor: null });
        const byAddress = new Map(
          [...world.unread].map(([name, [unread, urgent]]) => [
            name,
            { unread: exactly(unread), urgent: exactly(urgent) },
          ]),
        );
        await alarms.hearPendingList({ at, byAddress, cursor: null }, signal);
      }
    },
    tells(persona: string, ...events: readonly object[]) {
      alarms.put({ is: 'delivered', at: clock.now(), persona, events: events as readonly Event[] });
    },
    breaks: (persona: string) => alarms.put({ is: 'failed', at: clock.now(), persona, fault: CUT, health: DOWN }),
    fails: () => alarms.hearPendingList(null, signal),
  };
}

describe('stranded mail, from poll to stream', () => {
  test('trap 45: the log says it once, however long it lasts, and once more when it comes again', async () => {
    const { polls, lines, since, world } = bench(['ada', 'bo']);
    world.unread.set('ghost', [2, 0]);
    await polls(50);
    assert.deepEqual(lines(), ['kijito: mail has no known reader: ghost (2 unread)']);
    assert.deepEqual(since(), ['ada stranded ghost', 'bo stranded ghost']);
    world.members.set('ghost', MEMBER);
    world.unread.set('wraith', [1, 0]);
    await polls(4);
    assert.deepEqual(lines(), ['kijito: mail has no known reader: wraith (1 unread)']);
    assert.deepEqual(since(), ['ada stranded wraith', 'bo stranded wraith']);
  });

  test('trap 43: a name that a member has in another case is said to be like it, and is stranded all the same', async () => {
    const { polls, lines, world } = bench(['claude-chat']);
    world.unread.set('Claude-chat', [1, 0]);
    await polls(4);
    assert.match(lines().join(), /Claude-chat \(1 unread; there is a claude-chat\)/);
  });

  test('the directory is asked once more for mail that is newer, and never without need', async () => {
    const { polls, since, world } = bench(['ada']);
    world.unread.set('ada', [3, 0]);
    await polls(9);
    assert.equal(world.asked, 0);
    world.unread.set('new', [1, 0]);
    world.members.set('new', MEMBER);
    await polls(9);
    assert.deepEqual([world.asked, since()], [1, []], 'it has joined since');
  });

  test('while the directory cannot be had nothing is claimed', async () => {
    const { polls, since, world } = bench(['ada']);
    world.unread.set('ghost', [1, 0]);
    world.directoryFails = true;
    await polls(9);
    assert.deepEqual(since(), []);
    world.directoryFails = false;
    await polls(1);
    assert.deepEqual(since(), ['ada stranded ghost']);
  });

  test('trap 10: told to nobody it is raised again, also to whoever came since; whoever did not take it is asked again', async () => {
    const { polls, since, world, join } = bench(['ada', 'bo'], [], ['cy']);
    world.unread.set('ghost', [1, 0]);
    for (const name of ['ada', 'bo']) world.refuses.add(name);
    await polls(6);
    assert.deepEqual(since(), []);
    join('cy');
    await polls(3);
    assert.deepEqual(since(), ['cy stranded ghost']);
    world.refuses.clear();
    await polls(3);
    assert.deepEqual(since(), ['ada stranded ghost', 'bo stranded ghost']);
  });

  test('dormant inboxes are a line in the log, and nobody is woken for them', async () => {
    const { polls, since, lines, world } = bench(['ada', 'old']);
    world.members.set('old', { ...MEMBER, retired: true });
    world.unread.set('old', [1, 0]);
    await polls(1);
    world.unread.set('ghost', [1, 0]); // makes the directory be asked
    await polls(9);
    assert.deepEqual(since(), ['ada stranded ghost']);
    assert.equal(lines().filter((line) => line.includes('are not expected to read it: old')).length, 1);
  });
});

describe('urgent mail, from poll to stream', () => {
  test('trap 50: only a silence that every inbox vouches for', async () => {
    const urgent = (b: ReturnType<typeof bench>) => b.world.unread.set('ada', [1, 1]);
    const whole = bench(['ada', 'bo']);
    urgent(whole);
    await whole.polls(7);
    assert.deepEqual(whole.since(), ['ada urgent-unanswered ada', 'bo urgent-unanswered ada']);

    const unlooked = bench(['ada', 'bo']);
    urgent(unlooked);
    await unlooked.polls(1);
    await unlooked.polls(9, ['bo']);
    assert.deepEqual(unlooked.since(), [], 'bo was not looked at since');
    await unlooked.polls(1);
    assert.equal(unlooked.since().length, 2);

    const missing = bench(['ada', 'bo']);
    missing.world.walkAt = 1;
    urgent(missing);
    await missing.polls(9);
    assert.deepEqual(missing.since(), [], 'some mail could not be had');

    const unwatched = bench(['ada']);
    unwatched.world.members.set('cy', MEMBER);
    urgent(unwatched);
    unwatched.world.unread.set('ghost', [1, 0]);
    await unwatched.polls(9);
    assert.deepEqual(unwatched.since(), ['ada stranded ghost'], 'cy is a member that is not watched');

    const broken = bench(['ada', 'bo']);
    urgent(broken);
    for (let n = 0; n < 5; n += 1) {
      await broken.polls(4);
      await broken.fails();
    }
    assert.deepEqual(broken.since(), [], 'the list failed in between');
  });

  test('mail that it sent is an act, wherever it lies', async () => {
    const { polls, since, tells, world } = bench(['ada', 'bo']);
    world.unread.set('ada', [1, 1]);
    for (let n = 1; n < 6; n += 1) {
      await polls(3);
      tells('bo', { event: 'new', id: n, from: 'ada' });
    }
    assert.deepEqual(since(), []);
    await polls(7);
    assert.equal(since().length, 2);
  });
});

describe('a silence that cannot be observed', () => {
  const muted = 'kijito: urgent mail is unread (ada), and the activity of its readers is unknown: ';
  const over = 'kijito: every inbox can be polled again, so silent readers are noticed again';

  test('trap 50: an inbox that is never read mutes the alarm of its hive, and the log says which, once', async () => {
    const { polls, lines, since, world, breaks } = bench(['ada', 'bo', 'cy']);
    world.unread.set('ada', [1, 1]);
    await polls(1);
    breaks('cy');
    await polls(50, ['cy']);
    assert.deepEqual([lines(), since()], [[`${muted}cy was not read`], []]);
    await polls(2);
    assert.equal(since().length, 3, 'cy is read: what ada did not do meanwhile is seen now');
    assert.deepEqual(lines(), [
      'kijito: urgent mail is unread, and its reader showed no activity: ada (1 urgent)',
      over,
    ]);
    breaks('cy');
    await polls(9, ['cy']);
    assert.deepEqual(lines(), [`${muted}cy was not read`], 'it comes again');
  });

  test('what passes soon, and what mutes nothing, is no line', async () => {
    const { polls, lines, world, breaks } = bench(['ada', 'bo']);
    world.unread.set('ada', [1, 0]);
    breaks('bo');
    await polls(20, ['bo']);
    assert.deepEqual(lines(), [], 'nothing is urgent');
    await polls(1);
    world.unread.set('ada', [1, 1]);
    await polls(4);
    breaks('bo');
    await polls(4, ['bo']);
    assert.deepEqual(lines(), []);
  });

  test('every reason has its words, another inbox is another line, and many are no long one', async () => {
    const names = ['ada', 'b1', 'b2', 'b3', 'b4', 'b5'];
    const { polls, lines, world, breaks } = bench(names, [], ['zed']);
    world.unread.set('ada', [1, 1]);
    await polls(9);
    assert.deepEqual(lines(), [`${muted}zed is not watched`]);
    for (const name of names.slice(1)) breaks(name);
    await polls(9, names.slice(1));
    assert.deepEqual(lines(), [`${muted}b1 was not read, b2 was not read, b3 was not read, and 3 more like these`]);
    world.walkAt = 1;
    await polls(9);
    assert.match(lines().join(), /: ada has mail that could not be had, b1 has/);
  });
});

describe('an alarm of urgent mail that was told', () => {
  const reported = ['ada urgent-unanswered ada', 'bo urgent-unanswered ada'];

  test('trap 45: is not told again because an inbox or the list failed meanwhile: it is not over', async () => {
    const { polls, lines, since, world, breaks, fails } = bench(['ada', 'bo']);
    world.unread.set('ada', [1, 1]);
    await polls(7);
    assert.deepEqual([since(), lines().length], [reported, 1]);
    breaks('bo');
    await polls(2, ['bo']);
    await polls(9);
    await fails();
    await polls(9);
    assert.deepEqual([since(), lines()], [[], []]);
  });

  test('trap 47: is told again after an act, also one that came to light in such a span', async () => {
    const { polls, since, world, fails, tells } = bench(['ada', 'bo']);
    world.unread.set('ada', [2, 2]);
    await polls(7);
    assert.deepEqual(since(), reported);
    await fails();
    tells('bo', { event: 'new', id: 9, from: 'ada' });
    await polls(9);
    assert.deepEqual(since(), reported, 'it sent');
    await fails();
    world.unread.set('ada', [1, 1]);
    await polls(9);
    assert.deepEqual(since(), reported, 'it read');
    world.unread.set('ada', [1, 0]);
    await polls(2);
    world.unread.set('ada', [2, 1]);
    await polls(9);
    assert.deepEqual(since(), reported, 'other urgent mail');
  });

  test('trap 10: whoever did not take it is asked again also after such a span', async () => {
    const { polls, since, world, breaks } = bench(['ada', 'bo']);
    world.unread.set('ada', [1, 1]);
    world.refuses.add('bo');
    await polls(7);
    assert.deepEqual(since(), ['ada urgent-unanswered ada']);
    breaks('bo');
    await polls(2, ['bo']);
    world.refuses.clear();
    await polls(3);
    assert.deepEqual(since(), ['bo urgent-unanswered ada']);
  });
});

test('trap 47: a new process tells again what is so, since what was told is remembered by the process alone', async () => {
  for (let process = 0; process < 2; process += 1) {
    const { polls, since, world } = bench(['ada']);
    world.unread.set('ghost', [1, 0]);
    world.unread.set('ada', [1, 1]);
    await polls(9);
    assert.deepEqual(since(), ['ada stranded ghost', 'ada urgent-unanswered ada']);
  }
});

describe('the activity report', () => {
  test('says what was seen, from which message on, and up to which every inbox was looked at', async () => {
    const { alarms, polls, tells, world, clock } = bench(['ada', 'bo']);
    assert.deepEqual([alarms.activity().floor, alarms.activity().upTo], [null, null]);
    tells('ada', { event: 'armed', cursor: 4 });
    tells('bo', { event: 'armed', cursor: 9 });
    world.unread.set('ada', [2, 0]);
    await polls(2);
    tells('ada', { event: 'new', id: 12, from: 'bo' });
    const sentAt = clock.now();
    await polls(2);
    world.unread.set('ada', [1, 0]);
    await polls(1);
    const { floor, upTo, personas } = alarms.activity();
    assert.deepEqual([floor, upTo], [9, 12]);
    assert.deepEqual(personas.get('bo'), { watched: true, sent: { id: 12, at: sentAt }, read: null });
    assert.deepEqual(personas.get('ada'), { watched: true, sent: null, read: { after: 12, at: clock.now() } });
    world.walkAt = 1;
    assert.equal(alarms.activity().upTo, null);
    assert.deepEqual(
      [...alarms.activity().blind],
      ['ada', 'bo'].map((name) => [name, 'has mail that could not be had']),
    );
  });

  test('a look that is back but whose mail is still with a sink vouches for nothing: some of it was not seen yet', async () => {
    const { alarms, polls, tells, world } = bench(['ada', 'bo']);
    for (const name of ['ada', 'bo']) tells(name, { event: 'armed', cursor: 4 });
    await polls(4);
    assert.equal(alarms.activity().upTo, 0);
    world.isTelling = true;
    assert.deepEqual(
      [alarms.activity().upTo, alarms.activity().blind.get('bo')],
      [null, 'has mail that was not taken'],
    );
  });

  test('says when something was seen, whatever became of the monotonic clock in a sleep', async () => {
    const { alarms, tells, clock, polls } = bench(['ada']);
    const sentAt = clock.now();
    tells('ada', { event: 'new', id: 3, from: 'ada' });
    await polls(1);
    clock.setBy(60 * MINUTE);
    assert.equal(alarms.activity().personas.get('ada')?.sent?.at, sentAt);
  });

  test('what was read between two polls was read after what was known at the first, not at the second', async () => {
    const { alarms, polls, tells, world } = bench(['ada', 'bo']);
    tells('bo', { event: 'new', id: 5, from: 'cy' });
    world.unread.set('ada', [1, 0]);
    await polls(2);
    tells('bo', { event: 'new', id: 6, from: 'cy' });
    world.unread.delete('ada');
    await polls(1);
    assert.equal(alarms.activity().personas.get('ada')?.read?.after, 5);
  });

  test('an author that is suppressed is not watched in that sense, and a member without a watch covers nothing', async () => {
    const { alarms, polls } = bench(['ada', 'bo'], ['bo']);
    await polls(2);
    assert.equal(alarms.activity().personas.get('bo')?.watched, false);
    const other = bench(['ada']);
    other.world.members.set('typo', EMPTY_HANDED);
    other.world.unread.set('typo', [1, 0]);
    await other.polls(5);
    assert.equal(other.alarms.activity().upTo, null);
  });
});
