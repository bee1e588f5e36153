import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { Fact } from '../board/index.ts';
import { exactly, Fault, type FaultCode, VITAL_NOT_REPORTED } from '../model/index.ts';
import { EMPTY_TAIL, type Sink, type Taken } from '../sinks/index.ts';
import type { Levels, Mark, Persona, Source } from '../sources/index.ts';
import { createRounds, type RoundsOptions } from './rounds.ts';
import type { Rules, Saved, Start } from './state.ts';
import { openWatch } from './step.ts';
import { createWatcher, type Watcher } from './watcher.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Off the beat of the ticks. */
const RESCAN = 9.5 * MINUTE;
const FULL: Taken = {
  is: 'stopped',
  count: 0,
  fault: new Fault('no-space', 'disk is full', { is: 'machine', key: 'disk' }),
};

const fault = (code: FaultCode) => new Fault(code, code, { is: 'source', key: 'kijito' });
const personaOf = (address: string): Persona => ({ id: address, address, label: address });

/** A request that no server ever answers. */
function hanging(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Setting {
  readonly personas?: readonly string[];
  readonly options?: Partial<RoundsOptions>;
  readonly rules?: Partial<Rules>;
  /** Whether the source long-polls. */
  readonly holds?: boolean;
  /** Whether personas may be adopted. */
  readonly adopts?: boolean;
  readonly run?: boolean;
}

/**
 * One hive and its rounds on a clock that stands still. `since()` is what the hive and the sinks saw since the last call:
 * `pending`, `hold CURSOR`, `look NAME`, `NAME EVENT`, `open NAME`, `personas`.
 */
async function bench(t: TestContext, setting: Setting = {}) {
  const clock = fakeClock();
  const log: string[] = [];
  const facts: Fact[] = [];
  const world = {
    mail: new Map<string, number>(),
    directory: [] as string[],
    /** Faults by what was asked: `pending`, `hold`, `personas`, or a name. */
    faults: new Map<string, Fault>(),
    /** What never answers, by the same words. */
    hangs: new Set<string>(),
    /** Levels that lie: these instead of the mail that is there. */
    levels: null as Levels['of'] | null,
    cursor: 'c1' as string | null,
    /** Lets the hold answer. */
    news: () => {},
    take: (_: string, __: readonly string[]): Taken | Promise<Taken> => ({ is: 'all' }),
    open: (address: string): Promise<Watcher | null> => Promise.resolve(watcherOf(address, { is: 'born' })),
    looked: () => {},
    /** Called while a request is under way. */
    during: (_: string) => {},
    hint: (_: string) => {},
    rescanFailures: [] as Fault[],
  };
  async function asked(what: string, words: string, signal: AbortSignal): Promise<void> {
    log.push(words);
    signal.throwIfAborted();
    world.during(what);
    if (world.hangs.has(what)) await hanging(signal);
    const refusal = world.faults.get(what);
    if (refusal !== undefined) throw refusal;
  }
  const levels = (): Levels => ({
    at: clock.now(),
    of: world.levels ?? new Map([...world.mail].map(([name, n]) => [name, { unread: exactly(n), urgent: exactly(0) }])),
    cursor: setting.holds ? world.cursor : null,
  });
  const hold = async (cursor: string, ms: number, signal: AbortSignal): Promise<Levels> => {
    await asked('hold', `hold ${cursor} ${ms}`, signal);
    const cut = new AbortController();
    world.news = () => cut.abort();
    await clock.sleep(ms, AbortSignal.any([signal, cut.signal]));
    signal.throwIfAborted();
    return levels();
  };
  const source: Source = {
    id: 'kijito',
    kind: 'kijito-inbox',
    async personas(signal) {
      await asked('personas', 'personas', signal);
      return world.directory.map(personaOf);
    },
    async look({ address }, _: Mark, signal) {
      await asked(address, `look ${address}`, signal);
      const max = world.mail.get(address) ?? 0;
      const rows = Array.from({ length: max }, (_, i) => ({
        id: i + 1,
        from: 'river',
        created: 'c',
        content: 'x',
        read: false,
      }));
      const evidence = { is: 'log' as const, rows, max };
      return { at: clock.now(), unread: exactly(max), urgent: exactly(0), vital: VITAL_NOT_REPORTED, evidence };
    },
    pending: {
      async once(signal) {
        await asked('pending', 'pending', signal);
        return levels();
      },
      ...(setting.holds ? { hold } : {}),
    },
    hints(wake) {
      world.hint = wake;
      return { [Symbol.dispose]: () => void log.push('hints end') };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const watcherOf = (address: string, start: Start): Watcher => {
    const rules: Rules = {
      persona: address,
      address,
      source: 'kijito-inbox',
      run: '00ff00ff00ff00ff',
      pollSeconds: 60,
      alertAfter: 3,
      maxReplay: 50,
      heartbeatMs: null,
      suppressed: new Set(),
      delivery: 'at-least-once',
      ...setting.rules,
    };
    const sink: Sink<Saved> = {
      keeps: true,
      open: async () => EMPTY_TAIL,
      async take(events) {
        const names = events.map((event) => (event.event === 'new' ? `new ${event.id}` : event.event));
        const taken = await world.take(address, names);
        for (const name of names) log.push(`${address} ${taken.is === 'all' ? '' : '!'}${name}`);
        return taken;
      },
      [Symbol.asyncDispose]: async () => void log.push(`close ${address}`),
    };
    const state = openWatch(clock.now(), start, null, EMPTY_TAIL, rules);
    const put = (fact: Fact) => void facts.push(fact);
    return createWatcher({ persona: personaOf(address), source, sink, saver: null, rules, state, clock, put });
  };
  const rounds = createRounds({
    source,
    clock,
    put: (fact) => void facts.push(fact),
    intervalMs: MINUTE,
    resyncEvery: 10,
    fastPath: true,
    holdMs: 50 * SECOND,
    looksAtOnce: 4,
    adopt: setting.adopts
      ? {
          everyMs: RESCAN,
          open: (persona) => {
            log.push(`open ${persona.address}`);
            return world.open(persona.address);
          },
          named: personaOf,
          rescanFailed: (why) => void world.rescanFailures.push(why),
        }
      : null,
    looked: () => world.looked(),
    ...setting.options,
  });
  const stop = new AbortController();
  const watchers = (setting.personas ?? ['ada', 'bo']).map((address) => watcherOf(address, { is: 'baseline' }));
  const since = () => log.splice(0);
  const start = (): Promise<void> => rounds.run(watchers, stop.signal);
  let ended: Promise<void> = Promise.resolve();
  if (setting.run !== false) {
    ended = start();
    await clock.advance(0);
  }
  t.after(async () => {
    stop.abort();
    await ended.catch(() => {}); // a test of its failure has seen it
    assert.equal(clock.waiting, 0, 'timers left at the end');
  });
  return { clock, world, rounds, stop, since, ended, start, facts, watcherOf };
}

const looks = (seen: readonly string[]) => seen.filter((words) => words.startsWith('look'));
const counted = (seen: readonly string[], words: string) => seen.filter((each) => each.startsWith(words)).length;

describe('a tick', () => {
  test('arms every inbox at the start, after one pending call', async (t) => {
    const { since } = await bench(t);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'ada armed', 'bo armed']);
  });

  test('asks the pending list once, however many personas, and looks at none while nothing rises', async (t) => {
    const personas = Array.from({ length: 100 }, (_, i) => `p${i}`);
    const { since, clock, facts } = await bench(t, { personas });
    since();
    facts.length = 0;
    await clock.advance(5 * MINUTE);
    assert.deepEqual(since(), Array(5).fill('pending'));
    assert.equal(facts.filter(({ is }) => is === 'counted').length, 500);
  });

  test('looks where unread rose, and only there', async (t) => {
    const { since, clock, world } = await bench(t);
    world.mail.set('ada', 2);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'ada new 1', 'ada new 2']);
    world.mail.set('bo', 1);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look bo', 'bo new 1']);
  });

  test('a persona that is absent from the answer has none unread, and its next mail is a rise', async (t) => {
    const { since, clock, world } = await bench(t);
    world.mail.set('ada', 1);
    await clock.advance(MINUTE);
    world.levels = new Map();
    await clock.advance(MINUTE);
    world.levels = null;
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(looks(since()), ['look ada']);
  });

  test('a count that lies is found out by the floor: after N skips every inbox is looked at', async (t) => {
    const { since, clock, world } = await bench(t, { options: { resyncEvery: 3 } });
    world.levels = new Map();
    world.mail.set('ada', 1);
    since();
    await clock.advance(3 * MINUTE);
    assert.deepEqual(looks(since()), []);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'ada new 1']);
    await clock.advance(3 * MINUTE);
    assert.deepEqual(looks(since()), []);
    await clock.advance(MINUTE);
    assert.equal(looks(since()).length, 2);
  });

  test('a pending list that fails is no reason to be blind: every inbox is looked at', async (t) => {
    const { since, clock, world } = await bench(t);
    world.faults.set('pending', fault('status'));
    world.mail.set('ada', 1);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'ada new 1']);
    world.faults.clear();
    await clock.advance(MINUTE); // nothing was known: one look more
    await clock.advance(MINUTE);
    assert.equal(looks(since()).length, 2);
  });

  test('a count that is unknown is no answer for that persona', async (t) => {
    const { since, clock, world } = await bench(t);
    world.levels = new Map([['ada', { unread: { is: 'unknown' }, urgent: { is: 'unknown' } }]]);
    since();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(looks(since()), ['look ada', 'look ada']);
  });

  test('without the endpoint (404) the list is asked for again only at the pace of the floor', async (t) => {
    const { since, clock, world } = await bench(t, { options: { resyncEvery: 3 } });
    world.faults.set('pending', fault('not-found'));
    since();
    await clock.advance(5 * MINUTE);
    const seen = since();
    assert.equal(counted(seen, 'pending'), 2);
    assert.equal(looks(seen).length, 10);
    world.faults.clear();
    await clock.advance(5 * MINUTE);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending']);
  });

  test('without the fast path every tick looks at every inbox, and the list is never asked', async (t) => {
    const { since, clock } = await bench(t, { options: { fastPath: false } });
    since();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(since(), ['look ada', 'look bo', 'look ada', 'look bo']);
  });

  test('an inbox that fails is looked at on every tick until it is well', async (t) => {
    const { since, clock, world } = await bench(t);
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
    const { since, clock, world } = await bench(t);
    world.hangs.add('ada');
    world.mail.set('ada', 1);
    since();
    await clock.advance(10 * MINUTE);
    assert.equal(counted(since(), 'pending'), 10);
  });
});

describe('no persona waits for another', () => {
  test('one that hangs is asked once, and the others are looked at as ever', async (t) => {
    const { since, clock, world } = await bench(t);
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
    const { since, clock, world } = await bench(t, { personas: ['ada'], options: { fastPath: false } });
    let finish: (taken: Taken) => void = () => {};
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
    const { since, world, clock, start, stop } = await bench(t, { run: false, options: { looksAtOnce: 2 } });
    world.hangs.add('ada');
    const ended = start();
    await clock.advance(0);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo', 'bo armed']);
    stop.abort();
    await ended;
  });

  test('a sink that takes its time is that of its own persona only', async (t) => {
    const { since, clock, world } = await bench(t);
    let finish: (taken: Taken) => void = () => {};
    const slow = new Promise<Taken>((resolve) => {
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
    const { since, clock, world } = await bench(t, { personas: ['x', 'y', 'ada'], options: { looksAtOnce: 2 } });
    for (const name of ['x', 'y', 'ada']) world.mail.set(name, 1);
    for (const name of ['x', 'y']) world.faults.set(name, fault('timeout'));
    await clock.advance(MINUTE);
    for (const name of ['x', 'y']) world.hangs.add(name);
    world.mail.set('ada', 2);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'look x', 'look ada', 'ada new 2']);
  });
});

describe('a start', () => {
  test('does not wait for a pending list that hangs: arming begins after a quarter of a second', async (t) => {
    const { since, world, clock, start, stop } = await bench(t, { run: false });
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
    const { since, clock, world } = await bench(t);
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
    const { since, clock, world } = await bench(t);
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
    const { since, clock, world } = await bench(t);
    world.mail.set('ada', 1);
    world.take = () => FULL;
    await clock.advance(MINUTE);
    world.mail.clear();
    since();
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), ['look ada']);
  });

  test('a heartbeat that was refused is offered again, with the same patience', async (t) => {
    const { since, clock, world } = await bench(t, { personas: ['ada'], rules: { heartbeatMs: MINUTE } });
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

describe('the held pending list', () => {
  const holding: Setting = { holds: true, personas: ['ada'] };

  test('takes the place of the sleep: quiet, it is asked once a hold, and nothing else', async (t) => {
    const { since, clock, world } = await bench(t, holding);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000', 'ada armed']);
    world.cursor = 'c2';
    await clock.advance(50 * SECOND);
    assert.deepEqual(since(), ['hold c2 50000']);
  });

  test('echoes the cursor of the last answer, and looks at once where unread rose', async (t) => {
    const { since, clock, world } = await bench(t, holding);
    world.mail.set('ada', 1);
    world.cursor = 'opaque/2';
    since();
    world.news();
    await clock.advance(0);
    assert.deepEqual(since(), ['look ada', 'hold opaque/2 50000', 'ada new 1']);
  });

  test('is cut by a poke', async (t) => {
    const { since, clock, rounds } = await bench(t, holding);
    since();
    rounds.poke(true);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000']);
  });

  test('a poke is never answered from before it: an answer that is older is dropped', async (t) => {
    const { since, clock, rounds, world } = await bench(t, holding);
    world.news(); // the server answers early and without news, which is taken slowly
    await clock.advance(100);
    since();
    world.mail.set('ada', 1);
    rounds.poke(false);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'hold c1 50000', 'ada new 1']);
  });

  test('a hold that fails is tried again after 2, 4, 8 s with the same cursor; ticks come at the interval meanwhile', async (t) => {
    const { since, clock, world } = await bench(t, holding);
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
    assert.deepEqual(since(), ['look ada', 'hold c3 50000', 'ada new 1']);
  });

  test('a hive that goes away for seconds is no outage: its inboxes fail at the pace of the interval', async (t) => {
    const { since, clock, world, facts } = await bench(t, holding);
    for (const what of ['hold', 'pending', 'ada']) world.faults.set(what, fault('refused'));
    world.cursor = 'c2';
    world.news();
    since();
    await clock.advance(59 * SECOND);
    assert.ok(looks(since()).length <= 1);
    world.faults.clear();
    await clock.advance(2 * MINUTE);
    assert.deepEqual(
      facts.filter((fact) => fact.is === 'told' && fact.events.some(({ event }) => event === 'alert')),
      [],
    );
  });

  test('a busy hive does not turn the blip of one inbox into an outage', async (t) => {
    const { clock, world, since } = await bench(t, { holds: true, personas: ['ada', 'bo'] });
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
    const { clock, world, since } = await bench(t, { ...holding, options: { intervalMs: 10 * SECOND } });
    world.faults.set('ada', fault('status'));
    world.mail.set('ada', 1);
    world.cursor = 'c2';
    world.news();
    await clock.advance(0);
    world.cursor = 'c3';
    await clock.advance(50 * SECOND);
    since();
    await clock.advance(30 * SECOND);
    assert.equal(looks(since()).length, 3);
  });

  test('a server that stops to long-poll (no cursor) is asked at the interval, and held again when it can', async (t) => {
    const { clock, world, since } = await bench(t, holding);
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
    const { clock, world, since } = await bench(t, { ...holding, options: { holdMs: 0 } });
    since();
    await clock.advance(10 * SECOND);
    assert.equal(counted(since(), 'hold'), 10);
    assert.equal(world.cursor, 'c1');
  });

  test('is not used without the fast path, nor when switched off', async (t) => {
    const off = await bench(t, { ...holding, options: { holdMs: null } });
    await off.clock.advance(MINUTE);
    assert.equal(counted(off.since(), 'hold'), 0);
    const baseline = await bench(t, { ...holding, options: { fastPath: false } });
    await baseline.clock.advance(MINUTE);
    assert.equal(counted(baseline.since(), 'hold'), 0);
  });
});

describe('pokes', () => {
  test('fifty at once are one tick; forced, it looks at every inbox whatever the list says', async (t) => {
    const { since, clock, rounds } = await bench(t);
    since();
    for (let i = 0; i < 50; i++) rounds.poke(true);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look ada', 'look bo']);
    await clock.advance(50 * SECOND);
    assert.deepEqual(since(), []);
  });

  test('an ordinary one is a tick like any other: it asks the list, and looks where unread rose', async (t) => {
    const { since, clock, rounds, world } = await bench(t);
    since();
    world.mail.set('bo', 1);
    rounds.poke(false);
    await clock.advance(5);
    assert.deepEqual(since(), ['pending', 'look bo', 'bo new 1']);
  });

  test('an ordinary one beside a forced one is forced', async (t) => {
    const { since, clock, rounds } = await bench(t);
    since();
    rounds.poke(true);
    rounds.poke(false);
    await clock.advance(5);
    assert.equal(looks(since()).length, 2);
  });

  test('polls so caused count as failures like any other, however soon they come', async (t) => {
    const { since, clock, rounds, world } = await bench(t, { personas: ['ada'] });
    world.faults.set('ada', fault('status'));
    for (const force of [true, false, false]) {
      rounds.poke(force);
      await clock.advance(5);
    }
    assert.ok(since().includes('ada alert'));
  });

  test('any number during a fetch makes exactly one fetch more, after it', async (t) => {
    const { since, clock, rounds, world } = await bench(t, { personas: ['ada'] });
    let finish: (taken: Taken) => void = () => {};
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
    assert.deepEqual(looks(since()), []);
    world.take = () => ({ is: 'all' });
    finish({ is: 'all' });
    await clock.advance(30 * SECOND);
    assert.deepEqual(since(), ['ada new 1', 'look ada']);
  });

  test('one that comes while the list is being asked is one tick more, at once', async (t) => {
    const { since, clock, rounds, world } = await bench(t, { personas: ['ada'] });
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
    const { since, clock, rounds, start, stop } = await bench(t, { run: false });
    rounds.poke(true);
    const ended = start();
    await clock.advance(30 * SECOND);
    assert.equal(looks(since()).length, 2);
    stop.abort();
    await ended;
  });
});

describe('a wake', () => {
  test('looks at that inbox alone, at once, without the list', async (t) => {
    const { since, clock, world } = await bench(t);
    world.mail.set('bo', 1);
    since();
    world.hint('bo');
    await clock.advance(0);
    assert.deepEqual(since(), ['look bo', 'bo new 1']);
  });

  test('for a name nobody knows is nothing where the set is fixed', async (t) => {
    const { since, clock, world } = await bench(t);
    since();
    world.hint('cy');
    await clock.advance(0);
    assert.deepEqual(since(), []);
  });

  test('after the end does nothing', async (t) => {
    const { since, rounds, stop, ended } = await bench(t);
    stop.abort();
    await ended;
    since();
    rounds.wake('ada');
    rounds.poke(true);
    assert.deepEqual(since(), []);
  });
});

describe('a persona that appears while running', () => {
  const adopting: Setting = { personas: ['ada'], adopts: true };

  test('is adopted when the pending list names it, and its first mail is new', async (t) => {
    const { since, clock, world } = await bench(t, adopting);
    world.mail.set('cy', 1);
    since();
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending', 'open cy', 'look cy', 'cy persona_added', 'cy armed', 'cy new 1']);
    await clock.advance(MINUTE);
    assert.deepEqual(since(), ['pending']);
  });

  test('is adopted when a hint names it, at once', async (t) => {
    const { since, clock, world } = await bench(t, adopting);
    since();
    world.mail.set('cy', 1);
    world.hint('cy');
    world.hint('cy');
    await clock.advance(0);
    assert.deepEqual(since(), ['open cy', 'look cy', 'cy persona_added', 'cy armed', 'cy new 1']);
  });

  test('is adopted when a rescan finds it, also without mail', async (t) => {
    const { since, clock, world } = await bench(t, adopting);
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
    const { since, clock, world, watcherOf } = await bench(t, adopting);
    let opened: (watcher: Watcher) => void = () => {};
    world.open = () =>
      new Promise((resolve) => {
        opened = resolve;
      });
    world.mail.set('cy', 1);
    world.hint('cy');
    await clock.advance(2 * MINUTE);
    world.hint('cy');
    opened(watcherOf('cy', { is: 'born' }));
    await clock.advance(MINUTE);
    assert.equal(counted(since(), 'open cy'), 1);
  });

  test('a rescan only adds: a name that is gone is still watched', async (t) => {
    const { since, clock, world } = await bench(t, adopting);
    world.directory = [];
    await clock.advance(RESCAN);
    since();
    world.mail.set('ada', 1);
    await clock.advance(MINUTE);
    assert.ok(since().includes('ada new 1'));
  });

  test('one that cannot be opened is tried again on the next rescan, not on every tick, and stops nobody', async (t) => {
    const { since, clock, world } = await bench(t, adopting);
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

  test('a rescan that fails is said, and the next one comes', async (t) => {
    const { since, clock, world } = await bench(t, adopting);
    world.faults.set('personas', fault('status'));
    await clock.advance(2 * RESCAN);
    assert.equal(counted(since(), 'personas'), 2);
    assert.deepEqual(
      world.rescanFailures.map(({ code }) => code),
      ['status', 'status'],
    );
  });
});

describe('the end', () => {
  for (const what of ['pending', 'ada', 'personas'] as const) {
    test(`comes at once while ${what} hangs, closes every sink, and leaves no timer`, async (t) => {
      const { world, clock, since, ended, stop } = await bench(t, { adopts: true });
      world.hangs.add(what);
      world.mail.set('ada', 1);
      await clock.advance(what === 'personas' ? RESCAN : MINUTE);
      since();
      stop.abort();
      await ended;
      assert.equal(clock.waiting, 0);
      assert.deepEqual(since(), ['hints end', 'close ada', 'close bo']);
    });
  }

  test('comes at once in the middle of a hold, of a wait for the next hold, and of a wait to try a sink again', async (t) => {
    for (const trouble of ['none', 'hold', 'sink']) {
      const { world, clock, ended, stop } = await bench(t, { holds: true });
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
    const { world, clock, ended, stop, since } = await bench(t, { personas: ['ada'] });
    let finish: (taken: Taken) => void = () => {};
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
    const { world, clock, ended, stop, since, watcherOf } = await bench(t, { personas: ['ada'], adopts: true });
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
    opened(watcherOf('cy', { is: 'born' }));
    await ended;
    assert.deepEqual(since(), ['hints end', 'close ada', 'close cy']);
  });

  test('a fault that `looked` throws is the end, for everything, with that fault', async (t) => {
    const { world, clock, ended, since } = await bench(t);
    const fatal = fault('not-found');
    world.looked = () => {
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
