import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type Event, isMail } from '../../core/events/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault, type KnownItem, type MailName } from '../../core/model/index.ts';
import type { PollResult, SetItem } from '../../core/sources/index.ts';
import {
  createInitialState,
  type SavedState,
  type step,
  toSavedState,
  type WatcherRules,
  type WatcherStart,
  type WatcherState,
} from '../../core/watcher/index.ts';
import { freeze, type Input, pureStep } from './pure-step.ts';
import { type Begin, type SavedSet, SetReference, type SetRules, type Thing } from './set-reference.ts';

/**
 * A set that anything happens to, a sink that refuses at any event, kills and restarts: what a watch tells and remembers is what
 * the reference tells and remembers; and whatever that is, nothing is lost and nothing comes twice.
 */
const FAULT = Object.freeze(new Fault('refused', 'refused', { is: 'source', key: 'garden' }));
const T0 = 1_750_000_000_000;
const RUNS = Number(process.env.HIVEBAR_RUNS ?? 2500);
const ALL = Number.POSITIVE_INFINITY;

/** How the sink answers. `dies`: the process is killed before it hears of it. */
interface Sinking {
  readonly takes: number;
  readonly dies: boolean;
}

/** `one`: the sink keeps the mark with the events, all or nothing. `two`: it takes what it can, and the mark is saved after it. */
type Disk = 'one' | 'two';

class Real {
  readonly rules: WatcherRules;
  readonly delivered: Event[] = [];
  state: WatcherState;
  disk: SavedState | null = null;
  more = false;
  private readonly kind: Disk;
  private lastSaved: SavedState | null = null;

  constructor({ me, suppressed, alertAfter, maxReplay }: SetRules, kind: Disk, begin: Begin) {
    this.kind = kind;
    this.rules = freeze({
      persona: 'ada',
      address: me,
      source: 'garden',
      run: '00ff00ff00ff00ff',
      pollSeconds: 60,
      alertAfter,
      maxReplay,
      heartbeatMs: null,
      suppressed: new Set([suppressed]),
      delivery: 'at-least-once',
      silenced: new Set(),
    });
    this.state = this.open(begin);
  }

  open(begin: Begin): WatcherState {
    const start: WatcherStart = begin === 'all new' ? { is: 'seed', id: 0 } : { is: begin };
    const newest = Math.max(0, ...this.delivered.flatMap((event) => ('id' in event ? [event.id] : [])));
    const saved = this.disk === null ? null : (JSON.parse(JSON.stringify(this.disk)) as SavedState);
    this.state = createInitialState(T0, start, saved, { eventIds: new Set(), newest }, this.rules);
    this.lastSaved = toSavedState(this.state);
    return this.state;
  }

  poll(things: readonly Thing[], epoch: string, sinking: Sinking): string[] {
    const unread = exactly(things.filter(({ mark }) => mark !== 'read').length);
    const items = things.map(toItem);
    const evidence = { is: 'set' as const, epoch, items };
    const poll: PollResult = { at: T0, unread, urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED, evidence };
    return this.hear({ at: T0, is: 'polled', pollResult: poll }, sinking);
  }

  fail(sinking: Sinking): string[] {
    return this.hear({ at: T0, is: 'failed', fault: FAULT, settling: false }, sinking);
  }

  /** As a watcher does it. */
  private hear(input: Input, { takes, dies }: Sinking): string[] {
    const { batch, save, saved: storedState, more } = this.transition(input);
    this.more = more;
    if (save && this.kind === 'two') this.disk = toSavedState(this.state);
    if (batch.length === 0) {
      if (save && this.kind === 'one' && !isDeepStrictEqual(storedState, this.lastSaved)) {
        this.disk = storedState;
        this.lastSaved = storedState;
      }
      return [];
    }
    const count = this.kind === 'one' && takes < batch.length ? 0 : Math.min(takes, batch.length);
    this.delivered.push(...batch.slice(0, count));
    if (this.kind === 'one' && count === batch.length) {
      this.disk = storedState;
      this.lastSaved = storedState;
    }
    if (dies) return batch.map(worded);
    const isAll = count === batch.length;
    const ack = isAll ? ({ is: 'all' } as const) : ({ is: 'stopped', count, fault: FAULT } as const);
    const answer = this.transition({ at: T0, is: 'taken', ack });
    assert.deepEqual(answer.batch, []);
    if (isAll)
      assert.deepEqual(toSavedState(this.state), JSON.parse(JSON.stringify(storedState)), 'what was to be kept');
    if (answer.save && this.kind === 'two') this.disk = toSavedState(this.state);
    return batch.map(worded);
  }

  private transition(input: Input): ReturnType<typeof step> {
    const out = pureStep(this.state, input, this.rules);
    this.state = out.state;
    return out;
  }
}

function toItem({ key, mark, as, quiet, changed, vanished, from, isOccasion }: Thing): SetItem {
  return {
    key,
    fingerprint: mark,
    appeared: quiet ? 'quiet' : (as as SetItem['appeared']),
    changed: changed as SetItem['changed'],
    vanished: vanished as SetItem['vanished'],
    ...(isOccasion ? { returns: 'occasion' as const } : {}),
    from,
    created: null,
    content: `${key} is ${mark}`,
    extra: { stem: key, mark },
  };
}

function worded(event: Event): string {
  const { stem, mark } = event as unknown as Record<string, unknown>;
  switch (event.event) {
    case 'new':
    case 'handoff':
    case 'assigned':
    case 'action':
      assert.equal(event.event_id, `ada:${event.event}:${event.id}`);
      assert.equal(event.wake_class, 'mail');
      assert.equal(event.content, `${stem} is ${mark}`);
      return `${event.event} ${event.id} ${stem} ${mark}${event.self ? ' self' : ''}`;
    case 'delivered':
    case 'read':
    case 'gone':
    case 'cleared':
    case 'acked': {
      const [, , n] = /^ada:([a-z]+):(\d+-\d+)$/.exec(event.event_id) ?? [];
      assert.ok(n?.startsWith(`${event.id}-`), event.event_id);
      return `${event.event} ${n} ${stem} ${mark}`;
    }
    case 'armed':
    case 'recovered':
      return `${event.event} ${event.cursor}`;
    case 'alert':
      return `alert ${'consecutive_failures' in event ? event.consecutive_failures : event.reason}`;
    case 'replay_capped':
      return `replay_capped ${event.capped_to} ${event.dropped}`;
    case 'baseline_skipped':
      return `baseline_skipped ${event.id_range[0]}-${event.id_range[1]} ${event.unread_held}`;
    default:
      return event.event;
  }
}

/** What is on the disk, in the words of the reference. */
function parseSaved(saved: SavedState | null): SavedSet | null {
  if (saved === null) return null;
  const { known, state, consecutive_failures: failures, persona_added: born, baseline_skipped: skipped } = saved;
  const things = known?.keys.map((item) => {
    assert.deepEqual(item.extra, item.seq === null ? {} : { stem: item.key, mark: item.extra.mark });
    return toRemembered(item);
  });
  const range = skipped === undefined ? null : skipped.id_range.join('-');
  return {
    state,
    failures,
    known:
      known === undefined || things === undefined
        ? null
        : { epoch: known.epoch, next: known.next, things, gone: (known.gone ?? []).map(toRemembered) },
    allNew: saved.cursor !== null,
    born: born === true,
    skipped: range === null ? null : `baseline_skipped ${range} ${skipped?.unread_held}`,
  };
}

function toRemembered({ key, seq, fingerprint: mark, changes, vanished, extra }: KnownItem) {
  return { key, id: seq, mark, changes, vanished, deliveredAs: String(extra.mark ?? '') };
}

const MARKS = {
  fresh: { quiet: false, changed: null, vanished: 'gone' },
  delivered: { quiet: false, changed: 'delivered', vanished: 'gone' },
  acked: { quiet: false, changed: 'acked', vanished: null },
  read: { quiet: true, changed: 'read', vanished: 'cleared' },
} as const;
type MarkName = keyof typeof MARKS;

type Op =
  | {
      readonly do: 'put';
      readonly key: string;
      readonly mark: MarkName;
      readonly as: MailName;
      readonly from: string | null;
      readonly front: boolean;
    }
  | { readonly do: 'remove'; readonly key: string }
  | { readonly do: 'crowd'; readonly comes: boolean }
  | { readonly do: 'epoch'; readonly is: string; readonly empty: boolean }
  | { readonly do: 'poll' | 'fail'; readonly how: Sinking }
  | { readonly do: 'restart'; readonly begin: Begin };

class World {
  readonly model: SetReference;
  readonly real: Real;
  readonly kind: Disk;
  private lastSaved: SavedSet | null = null;

  constructor(rules: SetRules, kind: Disk, begin: Begin) {
    this.kind = kind;
    this.model = new SetReference(rules);
    this.model.start(begin);
    this.real = new Real(rules, kind, begin);
    this.lastSaved = this.model.toSaved();
  }

  run(op: Op): void {
    const { model } = this;
    switch (op.do) {
      case 'put': {
        const at = model.things.findIndex(({ key }) => key === op.key);
        const isOccasion = OCCASIONS.includes(op.key);
        const thing = { key: op.key, mark: op.mark, as: op.as, from: op.from, isOccasion, ...MARKS[op.mark] };
        if (at >= 0) model.things[at] = { ...thing, from: model.things[at]?.from ?? null };
        else if (op.front) model.things.unshift(thing);
        else model.things.push(thing);
        return;
      }
      case 'remove':
        model.things = model.things.filter(({ key }) => key !== op.key);
        return;
      case 'crowd':
        model.things = model.things.filter(({ key }) => !key.startsWith('crowd'));
        if (op.comes)
          for (let i = 0; i < 60; i += 1)
            model.things.push({
              key: `crowd${i}`,
              mark: 'fresh',
              as: 'new',
              from: null,
              isOccasion: false,
              ...MARKS.fresh,
            });
        return;
      case 'epoch':
        model.epoch = op.is;
        if (op.empty) model.things = [];
        return;
      case 'restart':
        this.restart(op.begin);
        return;
      default:
        this.hear(op.do, op.how);
    }
  }

  private restart(begin: Begin): void {
    this.model.start(begin);
    this.real.open(begin);
    this.lastSaved = this.model.toSaved();
  }

  /** All parts of a look, for as long as the sink takes them. */
  hear(kind: 'poll' | 'fail', how: Sinking): void {
    for (let goesOn = true; goesOn; ) {
      const { model, real } = this;
      const { says, more } = kind === 'poll' ? model.poll() : { says: model.fail(), more: false };
      const words = kind === 'poll' ? real.poll(model.things, model.epoch, how) : real.fail(how);
      assert.deepEqual(
        words,
        says.map((say) => say.words),
      );
      const count = this.kind === 'one' && how.takes < says.length ? 0 : Math.min(how.takes, says.length);
      const dies = how.dies && says.length > 0;
      for (const say of says.slice(0, count)) say.onAck();
      const isAll = count === says.length;
      const now = model.toSaved();
      if (this.kind === 'two') model.disk = now;
      else if (says.length > 0 ? isAll : !isDeepStrictEqual(now, this.lastSaved)) {
        model.disk = now;
        this.lastSaved = now;
      }
      assert.deepEqual(parseSaved(real.disk), model.disk, 'what is on the disk');
      assert.equal(real.more, more);
      if (dies) this.restart(model.disk === null ? 'baseline' : 'resume');
      goesOn = more && isAll && !dies;
    }
  }
}

/** By itself, whatever the reference says: one appearance is one event, ids rise, and changes are of what appeared. */
function assertSound(delivered: readonly Event[]): void {
  const ids = delivered
    .map((event) => event.event_id)
    .filter((id) => /:(new|handoff|assigned|action|delivered|read|gone|cleared|acked):/.test(id));
  assert.equal(new Set(ids).size, ids.length, `twice: ${ids.join(' ')}`);
  const mail = delivered.flatMap((event) => (isMail(event) ? [event.id] : []));
  assert.deepEqual(
    mail,
    mail.toSorted((a, b) => a - b),
    'ids rise',
  );
  const last = new Map<number, { n: number; stem: unknown }>();
  for (const event of delivered) {
    const n = Number(/-(\d+)$/.exec(event.event_id)?.[1]);
    const { stem } = event as unknown as Record<string, unknown>;
    if (isMail(event)) {
      assert.ok(!last.has(event.id), 'new before its changes');
      last.set(event.id, { n: 0, stem });
    } else if ('id' in event) {
      const before = last.get(event.id);
      assert.equal(n, (before?.n ?? n - 1) + 1, 'changes in order');
      assert.equal(stem, before?.stem ?? stem, 'one id, one thing');
      last.set(event.id, { n, stem });
    }
  }
}

const KEYS = ['a', 'b', 'c', '__proto__', 'constructor', '\ud800', ''];
const OCCASIONS = ['c', 'constructor'];
const key = fc.constantFrom(...KEYS);
const begin = fc.constantFrom<Begin>('baseline', 'born', 'all new');
const how: fc.Arbitrary<Sinking> = fc.record({
  takes: fc.oneof({ weight: 3, arbitrary: fc.constant(ALL) }, fc.integer({ min: 0, max: 6 })),
  dies: fc.constant(false),
});

/** Where events and mark are one, a kill may come before the answer of the sink; else it comes between two looks. */
const arbitraryOps = (kind: Disk): fc.Arbitrary<Op> =>
  fc.oneof(
    {
      weight: 40,
      arbitrary: fc.record({
        do: fc.constant('put' as const),
        key,
        as: fc.constantFrom<MailName>('new', 'new', 'handoff', 'assigned', 'action'),
        mark: fc.constantFrom<MarkName>('fresh', 'fresh', 'delivered', 'acked', 'read'),
        from: fc.constantFrom(null, 'river', 'river', 'Bo', 'ADA'),
        front: fc.boolean(),
      }),
    },
    { weight: 12, arbitrary: fc.record({ do: fc.constant('remove' as const), key }) },
    {
      weight: 40,
      arbitrary: fc.record({
        do: fc.constant('poll' as const),
        how:
          kind === 'two'
            ? how
            : fc.record({ takes: fc.constantFrom(ALL, ALL, 0), dies: fc.constantFrom(false, false, true) }),
      }),
    },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('fail' as const), how }) },
    { weight: 8, arbitrary: fc.constant({ do: 'restart', begin: 'resume' } as const) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('restart' as const), begin }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('epoch' as const),
        is: fc.constantFrom('1', '2'),
        empty: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crowd' as const), comes: fc.boolean() }) },
  );

const arbitraryRules: fc.Arbitrary<SetRules> = fc.record({
  alertAfter: fc.integer({ min: 1, max: 3 }),
  maxReplay: fc.nat(4),
  me: fc.constant('ada'),
  suppressed: fc.constant('bo'),
  atOnce: fc.constant(50),
});

for (const kind of ['one', 'two'] as const) {
  const name = kind === 'one' ? 'kept with its events' : 'saved after its events';
  test(`whatever happens to a set whose mark is ${name}: each thing is told once, changes in order, nothing lost`, () => {
    fc.assert(
      fc.property(
        arbitraryRules,
        begin,
        fc.array(arbitraryOps(kind), { maxLength: 30, size: 'max' }),
        (rules, first, ops) => {
          const world = new World(rules, kind, first);
          for (const op of ops) world.run(op);
          // At rest: a willing sink, and nothing is left to say.
          world.hear('poll', { takes: ALL, dies: false });
          const { delivered, state } = world.real;
          assertSound(delivered);
          const { checkpoint: mark } = state;
          assert.ok(mark.is === 'known');
          assert.deepEqual(
            new Map(mark.keys.map((item) => [item.key, item.fingerprint])),
            new Map(world.model.things.map((thing) => [thing.key, thing.mark])),
            'what is there is what is known',
          );
          const before = delivered.length;
          world.hear('poll', { takes: ALL, dies: false });
          assert.equal(delivered.length, before, 'looking again says nothing');
        },
      ),
      { numRuns: Math.ceil(RUNS / 2) },
    );
  });
}
