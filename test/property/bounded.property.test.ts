import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Event } from '../../core/events/index.ts';
import { Fault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import type { Ack, Sink } from '../../core/sinks/index.ts';
import { createHttpHive, createKijitoSource, parseHiveUrl, type Source } from '../../core/sources/index.ts';
import {
  createInitialState,
  createWatcher,
  type SavedState,
  type Watcher,
  type WatcherRules,
} from '../../core/watcher/index.ts';
import { fakeClock } from '../kit/fake-clock.ts';
import { BoundedHive, TROUBLES, type Trouble } from './bounded-hive.ts';

/**
 * The whole way of a message, from the bytes of a hive that sends windows to a sink and a state that survive a kill: held
 * against what was delivered to the inbox. Nothing is ever skipped, and nothing comes twice unless a kill lost the mark.
 */
const SCOPE = { is: 'source', key: 'kijito' } as const;
const PERSONA = { id: 'ada', address: 'ada', label: 'ada' };
const RUNS = Number(process.env.HIVEBAR_RUNS ?? 10_000);
const FULL = new Fault('no-space', 'full', { is: 'machine', key: 'disk' });
const RULES: WatcherRules = {
  persona: 'ada',
  address: 'ada',
  source: 'kijito-inbox',
  run: '00ff00ff00ff00ff',
  pollSeconds: 60,
  alertAfter: 2,
  maxReplay: 2,
  heartbeatMs: null,
  suppressed: new Set(),
  delivery: 'at-least-once',
  silenced: new Set(),
};

type Op =
  | { readonly do: 'deliver'; readonly gaps: readonly number[] }
  | { readonly do: 'look'; readonly takes: number; readonly dies: 'no' | 'before save' | 'after take' }
  | { readonly do: 'trouble'; readonly is: Trouble; readonly from: number }
  | { readonly do: 'window'; readonly rows: number; readonly bySize: boolean }
  | { readonly do: 'restart'; readonly corrupt: boolean };

class World {
  readonly hive = new BoundedHive();
  readonly clock = fakeClock();
  /** Every event the sink took, over all processes. */
  readonly deliveredEvents: Event[] = [];
  disk: SavedState | null = null;
  /** Messages that need not be told: there before the first look, or counted as skipped. */
  readonly excused = new Set<number>();
  /** A kill came between sink and mark, or the state was lost: what was told may come again. */
  mayRepeat = false;
  takes = Number.POSITIVE_INFINITY;
  dead = false;
  dies: 'no' | 'before save' | 'after take' = 'no';
  watcher: Watcher = this.open(false);

  connect(): Source {
    const client = createHttpHive({
      hive: parseHiveUrl('http://h', SCOPE),
      fetcher: {
        get: async (path) => ({ body: this.hive.answer(path) }),
        [Symbol.asyncDispose]: async () => {},
      },
      clock: this.clock,
      contentChars: null,
      longPoll: false,
      scope: SCOPE,
      log: silentLog,
    });
    return createKijitoSource({
      id: 'kijito',
      client,
      clock: this.clock,
      members: { is: 'directory', prefix: '', reserved: [] },
    });
  }

  open(corrupt: boolean): Watcher {
    this.dead = false;
    this.hive.isKnown = false;
    const start = corrupt
      ? ({ is: 'corrupt', why: 'garbage' } as const)
      : this.disk === null
        ? ({ is: 'baseline' } as const)
        : ({ is: 'resume' } as const);
    const saved = corrupt || this.disk === null ? null : (JSON.parse(JSON.stringify(this.disk)) as SavedState);
    const sink: Sink<SavedState> = {
      savesState: false,
      open: async () => ({ eventIds: new Set() }),
      take: async (events): Promise<Ack> => {
        if (this.dead) return { is: 'stopped', count: 0, fault: FULL };
        const count = Math.min(this.takes, events.length);
        this.deliveredEvents.push(...events.slice(0, count));
        for (const event of events.slice(0, count)) this.hear(event);
        if (this.dies === 'after take') this.dead = true;
        return count === events.length ? { is: 'all' } : { is: 'stopped', count, fault: FULL };
      },
      [Symbol.asyncDispose]: async () => {},
    };
    return createWatcher({
      persona: PERSONA,
      source: this.connect(),
      sink,
      saver: {
        save: (storedState) => {
          if (this.dies === 'before save') this.dead = true;
          if (!this.dead) this.disk = storedState;
        },
      },
      rules: RULES,
      state: createInitialState(this.clock.now(), start, saved, { eventIds: new Set() }, RULES),
      clock: this.clock,
      put: () => {},
      settling: () => false,
    });
  }

  hear(event: Event): void {
    if (event.event === 'baseline_skipped') this.excuse(event.armed_at);
    if (event.event === 'replay_capped') this.excuse(event.capped_to);
  }

  excuse(upTo: number): void {
    for (const id of this.hive.ids) if (id <= upTo) this.excused.add(id);
  }

  get delivered(): readonly number[] {
    return this.deliveredEvents.flatMap((event) => (event.event === 'new' ? [event.id] : []));
  }

  async poll(takes: number, dies: World['dies']): Promise<void> {
    this.takes = takes;
    this.dies = dies;
    const before = this.disk;
    const never = new AbortController().signal;
    await this.watcher.poll((run) => run(), never, never);
    this.dies = 'no';
    if ((before?.cursor ?? null) === null) this.excuse(this.disk?.cursor ?? 0); // the baseline, said or not
    if (this.dead) {
      this.mayRepeat = true;
      if ((this.disk?.cursor ?? null) === null) this.excuseAll(); // no position yet: the next start is a baseline
      this.watcher = this.open(false);
    }
    this.check();
  }

  excuseAll(): void {
    for (const id of this.hive.ids) this.excused.add(id);
  }

  /** The cursor that is saved stands below everything that was not told. */
  check(): void {
    const cursor = this.disk?.cursor ?? 0;
    const deliveredEvents = new Set(this.delivered);
    for (const id of this.hive.ids) {
      if (id > cursor) break;
      assert.ok(
        deliveredEvents.has(id) || this.excused.has(id),
        `the cursor ${cursor} stands above ${id}, which was never told`,
      );
    }
    const above = this.disk?.delivered_above ?? [];
    for (const id of this.hive.ids) {
      if (!above.some(([from, to]) => from <= id && id <= to)) continue;
      assert.ok(deliveredEvents.has(id) || this.excused.has(id), `${id} is said to be delivered, and was never told`);
    }
    if (!this.mayRepeat)
      assert.equal(deliveredEvents.size, this.delivered.length, `twice: ${this.delivered.join(' ')}`);
  }

  async run(op: Op): Promise<void> {
    switch (op.do) {
      case 'deliver':
        for (const gap of op.gaps) this.hive.deliver(gap);
        return;
      case 'look':
        await this.poll(op.takes, op.dies);
        return;
      case 'trouble':
        this.hive.trouble = op.is;
        this.hive.troubles = (page) => page >= op.from;
        return;
      case 'window':
        this.hive.window = op.rows;
        this.hive.bySize = op.bySize;
        return;
      case 'restart':
        if (op.corrupt) {
          this.mayRepeat = true;
        }
        this.watcher = this.open(op.corrupt);
        return;
    }
  }
}

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('look' as const),
      takes: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 6 })),
      dies: fc.oneof(
        { weight: 6, arbitrary: fc.constant('no' as const) },
        fc.constantFrom('before save' as const, 'after take' as const),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('trouble' as const),
      is: fc.constantFrom(...TROUBLES),
      from: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('window' as const),
      rows: fc.integer({ min: 1, max: 6 }),
      bySize: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), corrupt: fc.constant(false) }) },
);

test('whatever windows, omissions, contradictions, failures, restarts and kills come: nothing is skipped, and nothing twice without a kill', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { maxLength: 30 }), async (ops) => {
      const world = new World();
      for (const each of ops) await world.run(each);
      // At the end everybody is well, and everything that was delivered has been told.
      world.hive.trouble = 'none';
      for (let n = 0; n < 4; n += 1) await world.poll(Number.POSITIVE_INFINITY, 'no');
      const deliveredEvents = new Set(world.delivered);
      const missing = world.hive.ids.filter((id) => !deliveredEvents.has(id) && !world.excused.has(id));
      assert.deepEqual(missing, []);
      assert.equal(world.disk?.cursor, world.hive.ids.at(-1) ?? 0);
      assert.equal(world.disk?.gap_alerted, undefined);
      assert.equal(world.disk?.delivered_above, undefined);
    }),
    { numRuns: RUNS },
  );
});
