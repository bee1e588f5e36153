import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { Fault } from '../model/index.ts';
import type { Log } from '../ports/index.ts';
import { every, onDemand, type Service, type Supervisor, supervise, waitUntil, whileNeeded } from './index.ts';

interface Rig {
  readonly clock: FakeClock;
  readonly supervisor: Supervisor;
  readonly logged: readonly string[];
  /** `gate cleanup: full` or `gate cleanup: sound`. */
  readonly reported: readonly string[];
}

function rig(): Rig {
  const clock = fakeClock();
  const logged: string[] = [];
  const reported: string[] = [];
  const write = (line: string): void => void logged.push(line);
  const log: Log = { info: write, warn: write, error: write };
  const report = (service: string, fault: Fault | null): void =>
    void reported.push(`${service}: ${fault?.message ?? 'sound'}`);
  return { clock, supervisor: supervise({ clock, log, report }), logged, reported };
}

/** A service whose n-th run does what the n-th of `runs` says, and the last for all that follow. */
function service(name: string, ...runs: readonly ('throws' | 'full' | 'ends' | 'works')[]) {
  const started: AbortSignal[] = [];
  const made: Service = {
    name,
    async run(signal) {
      const kind = runs[Math.min(started.length, runs.length - 1)];
      started.push(signal);
      if (kind === 'throws') throw new Error('boom');
      if (kind === 'full') throw new Fault('no-space', 'the disk is full', { is: 'machine', key: 'disk' });
      if (kind === 'works') await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  return { ...made, started };
}

describe('a supervisor', () => {
  test('starts a service in the turn in which it is added', async () => {
    await using made = rig().supervisor;
    const works = service('works', 'works');
    made.add(works);
    assert.equal(works.started.length, 1);
  });

  test('given a service that throws, runs it again after 1, 2, 4 s and at most a minute, with one warning and one report', async () => {
    const { clock, supervisor, logged, reported } = rig();
    await using _supervisor = supervisor;
    const fails = service('gate cleanup', 'full');
    supervisor.add(fails);
    const starts: number[] = [];
    for (let second = 0; second < 300; second += 1) {
      if (fails.started.length > starts.length) starts.push(second);
      await clock.advance(1000);
    }
    assert.deepEqual(starts, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    assert.deepEqual(logged, ['gate cleanup: the disk is full: free space on the disk; retrying in 1 s']);
    assert.deepEqual(reported, ['gate cleanup: the disk is full']);
  });

  test('given a service that throws, leaves its neighbours alone', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    const works = service('works', 'works');
    supervisor.add(service('fails', 'throws'));
    supervisor.add(works);
    await clock.advance(10_000);
    assert.equal(works.started.length, 1);
    assert.equal(works.started[0]?.aborted, false);
  });

  test('given a service that ran for a minute after its failure, says that it works, and begins again with 1 s', async () => {
    const { clock, supervisor, logged, reported } = rig();
    await using _supervisor = supervisor;
    const mended = service('hooks', 'throws', 'throws', 'works');
    supervisor.add(mended);
    await clock.advance(62_000);
    assert.deepEqual(reported, ['hooks: Error: boom']);
    await clock.advance(2000);
    assert.deepEqual(reported, ['hooks: Error: boom', 'hooks: sound']);
    assert.equal(logged.at(-1), 'hooks: it works again');
    assert.equal(mended.started.length, 3);
  });

  test('given another cause, warns and reports anew', async () => {
    const { clock, supervisor, reported } = rig();
    await using _supervisor = supervisor;
    supervisor.add(service('hooks', 'throws', 'full', 'full', 'throws'));
    await clock.advance(20_000);
    assert.deepEqual(reported, ['hooks: Error: boom', 'hooks: the disk is full', 'hooks: Error: boom']);
  });

  test('does not run again what has ended by itself', async () => {
    const { clock, supervisor, reported } = rig();
    await using _supervisor = supervisor;
    const ends = service('first run', 'ends');
    supervisor.add(ends);
    await clock.advance(120_000);
    assert.equal(ends.started.length, 1);
    assert.deepEqual(reported, []);
  });

  test('stops one service alone, and takes back what it said of it', async () => {
    const { clock, supervisor, reported } = rig();
    await using _supervisor = supervisor;
    const works = service('works', 'works');
    supervisor.add(works);
    const fails = supervisor.add(service('fails', 'throws'));
    await clock.advance(0);
    await fails[Symbol.asyncDispose]();
    assert.deepEqual(reported, ['fails: Error: boom', 'fails: sound']);
    assert.equal(works.started[0]?.aborted, false);
    assert.equal(clock.waiting, 0);
  });

  test('disposed, has stopped every service, waits for none that failed, and leaves no timer', async () => {
    const { clock, supervisor, reported } = rig();
    const works = service('works', 'works');
    supervisor.add(works);
    supervisor.add(service('fails', 'throws'));
    await clock.advance(0);
    await supervisor[Symbol.asyncDispose]();
    assert.equal(works.started[0]?.aborted, true);
    assert.equal(clock.waiting, 0);
    supervisor.add(works);
    assert.equal(works.started.length, 1);
    assert.deepEqual(reported, ['fails: Error: boom']);
  });
});

describe('a periodic service', () => {
  test('does a round in the turn in which it is started, and again so long after each end', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    let rounds = 0;
    const round = (): void => {
      rounds += 1;
    };
    supervisor.add(every({ name: 'copy', ms: 10_000, clock, round }));
    assert.equal(rounds, 1);
    await clock.advance(9999);
    assert.equal(rounds, 1);
    await clock.advance(1);
    assert.equal(rounds, 2);
  });

  test('asks after each round how long to wait', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    let rounds = 0;
    const round = (): void => {
      rounds += 1;
    };
    supervisor.add(every({ name: 'disk', ms: () => rounds * 1000, clock, round }));
    await clock.advance(1000);
    assert.equal(rounds, 2);
    await clock.advance(1999);
    assert.equal(rounds, 2);
    await clock.advance(1);
    assert.equal(rounds, 3);
  });

  test('begins later where it is told to', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    let rounds = 0;
    const round = (): void => {
      rounds += 1;
    };
    supervisor.add(every({ name: 'copy', firstMs: 500, ms: 10_000, clock, round }));
    await clock.advance(499);
    assert.equal(rounds, 0);
    await clock.advance(1);
    assert.equal(rounds, 1);
  });

  test('woken while it waits begins at once; woken during a round it does one more', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    const ends: (() => void)[] = [];
    const round = (): Promise<void> => new Promise((resolve) => void ends.push(resolve));
    const service = every({ name: 'scan', ms: 60_000, clock, round });
    supervisor.add(service);
    service.wake();
    ends[0]?.();
    await clock.advance(0);
    assert.equal(ends.length, 2);
    ends[1]?.();
    await clock.advance(0);
    assert.equal(ends.length, 2);
    service.wake();
    await clock.advance(0);
    assert.equal(ends.length, 3);
    ends[2]?.();
  });
});

describe('a service on demand', () => {
  test('does one round after its start, and one for all wakes of a span', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    let rounds = 0;
    const round = (): void => {
      rounds += 1;
    };
    const service = onDemand({ name: 'numbers', gatherMs: 100, clock, round });
    supervisor.add(service);
    await clock.advance(100);
    assert.equal(rounds, 1);
    await clock.advance(60_000);
    assert.equal(rounds, 1);
    assert.equal(clock.waiting, 0, 'at rest it has no timer');
    for (let i = 0; i < 10; i += 1) service.wake();
    await clock.advance(99);
    assert.equal(rounds, 1);
    await clock.advance(1);
    assert.equal(rounds, 2);
  });

  test('given a round that threw, does it again although nobody woke it', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    let rounds = 0;
    const round = (): void => {
      rounds += 1;
      if (rounds === 1) throw new Error('boom');
    };
    supervisor.add(onDemand({ name: 'numbers', gatherMs: 100, clock, round }));
    await clock.advance(2000);
    assert.equal(rounds, 2);
  });
});

describe('a service while it is needed', () => {
  function needed(clock: FakeClock) {
    const state = { readers: 0, rounds: 0, throws: false };
    const round = (): void => {
      state.rounds += 1;
      if (state.throws) throw new Error('boom');
    };
    const isNeeded = (): boolean => state.readers > 0;
    return { state, service: whileNeeded({ name: 'pings', ms: 1000, isNeeded, round, clock }) };
  }

  test('repeats its round only while it is needed, and has no timer otherwise', async () => {
    const { clock, supervisor } = rig();
    await using _supervisor = supervisor;
    const { state, service } = needed(clock);
    supervisor.add(service);
    service.wake();
    await clock.advance(60_000);
    assert.deepEqual([state.rounds, clock.waiting], [0, 0]);
    for (const rounds of [3, 6]) {
      state.readers = 1;
      service.wake();
      await clock.advance(999);
      assert.equal(state.rounds, rounds - 3);
      await clock.advance(2001);
      assert.equal(state.rounds, rounds);
      state.readers = 0;
      await clock.advance(1000);
      state.rounds = rounds;
      await clock.advance(60_000);
      assert.deepEqual([state.rounds, clock.waiting], [rounds, 0]);
    }
  });

  test('given a round that throws, is run again, and the others go on', async () => {
    const { clock, supervisor, reported } = rig();
    await using _supervisor = supervisor;
    const { state, service } = needed(clock);
    let others = 0;
    const round = (): void => {
      others += 1;
    };
    supervisor.add(service);
    supervisor.add(every({ name: 'others', ms: 1000, round, clock }));
    Object.assign(state, { readers: 1, throws: true });
    service.wake();
    await clock.advance(1000);
    state.throws = false;
    await clock.advance(2000);
    assert.deepEqual([state.rounds, others, reported], [2, 4, ['pings: Error: boom']]);
  });

  test('ends at once, needed or not', async () => {
    for (const readers of [0, 1]) {
      const { clock, supervisor } = rig();
      const { state, service } = needed(clock);
      state.readers = readers;
      supervisor.add(service);
      await clock.advance(0);
      await supervisor[Symbol.asyncDispose]();
      assert.deepEqual([state.rounds, clock.waiting], [0, 0]);
    }
  });
});

test('a wait looks at once and then in its interval, and ends with its signal', async () => {
  const { clock } = rig();
  const stop = new AbortController();
  let polls = 0;
  const isDone = (): boolean => {
    polls += 1;
    return polls === 3;
  };
  let isOver = false;
  const over = waitUntil(isDone, 1000, clock, stop.signal).then(() => {
    isOver = true;
  });
  await clock.advance(1999);
  assert.deepEqual([polls, isOver], [2, false]);
  await clock.advance(1);
  assert.deepEqual([polls, isOver], [3, true]);
  await over;
  const never = waitUntil(() => false, 1000, clock, stop.signal);
  stop.abort();
  await never;
  assert.equal(clock.waiting, 0);
});
