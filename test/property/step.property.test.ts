import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Event, isMail } from '../../core/events/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault } from '../../core/model/index.ts';
import type { PollResult } from '../../core/sources/index.ts';
import {
  createInitialState,
  type SavedState,
  type step,
  toSavedState,
  type WatcherRules,
  type WatcherState,
} from '../../core/watcher/index.ts';
import { freeze, type Input, pureStep } from './pure-step.ts';
import { type Begin, type Mail, Reference, type ReferenceRules, type Sinking } from './reference.ts';

const FAULT = Object.freeze(new Fault('refused', 'refused', { is: 'source', key: 'kijito' }));
const T0 = 1_750_000_000_000;

/** The real thing with the least around it: a disk, a sink that remembers, and a check of every single transition. */
class Real {
  rules: WatcherRules;
  /** Names of logs, in the order in which the watch noticed them. */
  readonly logs: string[] = [''];
  private runs = 0;
  state: WatcherState;
  disk: SavedState | null = null;
  readonly delivered: Event[] = [];
  /** What this process told, or at most once offered: what its agent may believe. */
  private accepted: Event[] = [];
  private at = T0;

  constructor(rules: ReferenceRules, begin: Begin) {
    this.rules = freeze({
      persona: rules.me,
      address: rules.me,
      source: 'kijito-inbox',
      run: '00ff00ff00ff00ff',
      pollSeconds: rules.pollSeconds,
      alertAfter: rules.alertAfter,
      maxReplay: rules.maxReplay,
      heartbeatMs: rules.heartbeatMs,
      suppressed: new Set([rules.suppressed]),
      delivery: rules.delivery,
      silenced: new Set(),
    });
    this.state = this.open(begin);
  }

  open(begin: Begin): WatcherState {
    this.accepted = [];
    this.runs += 1;
    this.rules = freeze({ ...this.rules, run: String(this.runs).padStart(16, '0') });
    const eventIds = new Set(this.delivered.filter((event) => event.event === 'new').map((event) => event.event_id));
    this.state = createInitialState(this.at, begin, this.disk, { eventIds }, this.rules);
    return this.state;
  }

  pass(ms: number): void {
    this.at += ms;
  }

  poll(rows: readonly Mail[], sinking: Sinking): string[] {
    const unread = exactly(rows.length);
    const full = rows.map((row) => ({ ...row, created: '2026-06-20T00:00:00', content: 'x', read: false }));
    const evidence = { is: 'log' as const, messages: full, max: rows.at(-1)?.id ?? 0 };
    const poll: PollResult = {
      at: this.at,
      unread,
      urgent: exactly(0),
      agentState: AGENT_STATE_NOT_REPORTED,
      evidence,
    };
    return this.hear({ at: this.at, is: 'polled', pollResult: poll }, sinking);
  }

  fail(sinking: Sinking): string[] {
    return this.hear({ at: this.at, is: 'failed', fault: FAULT, settling: false }, sinking);
  }

  beat(sinking: Sinking): string[] {
    return this.hear({ at: this.at, is: 'beat' }, sinking);
  }

  private hear(input: Input, { takes, dies }: Sinking): string[] {
    const { batch, save, facts } = this.transition(input);
    assertOrdered(batch);
    assert.ok(!facts.some((fact) => fact.is === 'delivered'), 'told before the sink answered');
    if (save) this.disk = toSavedState(this.state);
    if (batch.length === 0) return [];
    const count = Math.min(takes, batch.length);
    this.delivered.push(...batch.slice(0, count));
    this.accepted.push(...batch.slice(0, this.rules.delivery === 'at-most-once' ? batch.length : count));
    this.assertOutput();
    if (!dies) {
      const ack = count === batch.length ? { is: 'all' as const } : { is: 'stopped' as const, count, fault: FAULT };
      const answer = this.transition({ at: this.at, is: 'taken', ack });
      assert.deepEqual(answer.batch, []);
      if (answer.save) this.disk = toSavedState(this.state);
    }
    return batch.map(worded);
  }

  private transition(input: Input): ReturnType<typeof step> {
    const before = this.state;
    const out = pureStep(before, input, this.rules);
    assert.ok(
      getMark(out.state) >= getMark(before) || out.state.log !== before.log,
      `the cursor went back from ${getMark(before)} to ${getMark(out.state)}`,
    );
    this.state = out.state;
    const { name } = out.state.log;
    if (!this.logs.includes(name)) this.logs.push(name);
    return out;
  }

  /** Within one process: at most one armed, and edges that alternate. */
  private assertOutput(): void {
    assert.ok(this.accepted.filter((event) => event.event === 'armed').length <= 1, 'armed twice');
    const outages = this.accepted.filter((event) => event.event !== 'alert' || event.reason === 'unreachable');
    const edges = outages.map((event) => event.event).filter((name) => name === 'alert' || name === 'recovered');
    for (const [i, edge] of edges.entries()) assert.notEqual(edge, edges[i + 1], `${edge} twice`);
  }

  get armed(): number {
    return this.accepted.filter((event) => event.event === 'armed').length;
  }
}

function getMark({ checkpoint: mark }: WatcherState): number {
  return mark.is === 'at' ? mark.id : -1;
}

const RANKS = [
  'alert recovered',
  'persona_added',
  'baseline_skipped',
  'replay_capped seed_ahead',
  'armed',
  'new',
  'heartbeat',
];

/** The total order within one poll (Kijito spec 6.1), and mail by rising id. */
function assertOrdered(events: readonly Event[]): void {
  // That another log begins stands where it was noticed, behind what could not be told before.
  const inOrder = events.filter((event) => event.event !== 'alert' || event.reason !== 'log-restarted');
  const places = inOrder.map((event) => {
    const rank = RANKS.findIndex((names) => names.split(' ').includes(event.event));
    return rank * 1e6 + (event.event === 'new' ? event.id : 0);
  });
  assert.deepEqual(
    places,
    [...new Set(places)].sort((a, b) => a - b),
    events.map(worded).join(', '),
  );
}

function worded(event: Event): string {
  switch (event.event) {
    case 'delivered':
    case 'read':
    case 'gone':
    case 'cleared':
    case 'acked':
    case 'handoff':
    case 'assigned':
    case 'action':
    case 'question':
      return `${event.event} ${event.id}`;
    case 'new':
      return `new ${event.id}${event.self ? ' self' : ''}`;
    case 'armed':
    case 'recovered':
    case 'heartbeat':
      return `${event.event} ${event.cursor}`;
    case 'alert':
      if (event.reason === 'gap') return `gap ${event.cursor_at} -${event.omitted}`;
      if (event.reason === 'log-restarted') return `log-restarted ${event.cursor_at} ${event.current_max}`;
      if (event.reason === 'evidence-lost') return `evidence-lost ${event.cursor_at} -${event.forgot}`;
      if (event.reason === 'unread-not-shown') return `hidden ${event.unread_not_shown} ${event.above_watermark}`;
      if (event.reason !== 'unreachable') return event.reason;
      return `alert ${event.consecutive_failures} ${event.seconds}`;
    case 'gap':
      return `gap ${event.cursor_at}`;
    case 'seed_ahead':
      return `seed_ahead ${event.seeded} ${event.current_max}`;
    case 'replay_capped':
      return `replay_capped ${event.capped_to} ${event.dropped}`;
    case 'persona_added':
      return 'persona_added';
    case 'waiting':
      return `waiting(${event.reason})`;
    case 'resumed':
      return `resumed(${event.reason} ${event.agent})`;
    case 'state_corrupt':
      return `state_corrupt ${event.armed_at}`;
    case 'baseline_skipped':
      return `baseline_skipped ${event.id_range[0]}-${event.id_range[1]} ${event.unread_held}`;
  }
}

type Command = fc.Command<Reference, Real>;

/** One thing that happens to both; what they say and what they keep must be the same. */
function command(name: string, run: (model: Reference, real: Real) => void): Command {
  return {
    check: () => true,
    run: (model, real) => {
      run(model, real);
      assert.deepEqual(unnamed(real.disk), model.disk, 'what is on the disk');
      assert.deepEqual(unnamed(toSavedState(real.state)), model.toSaved(), 'what would be saved');
    },
    toString: () => name,
  };
}

/** The model does not name logs. */
function unnamed(saved: SavedState | null): unknown {
  if (saved?.log === undefined) return saved;
  const { name: _, ...log } = saved.log;
  return { ...saved, log };
}

const same = (real: string[], model: string[]): void => assert.deepEqual(real, model);

const sinking: fc.Arbitrary<Sinking> = fc.oneof(
  { arbitrary: fc.constant({ takes: Number.POSITIVE_INFINITY, dies: false }), weight: 3 },
  { arbitrary: fc.record({ takes: fc.nat(5), dies: fc.boolean() }), weight: 2 },
);

/** A process that dies in the hand-over is started again at once. */
function sunk(
  name: string,
  act: (target: Reference | Real, rows: readonly Mail[], sinking: Sinking) => string[],
): fc.Arbitrary<Command> {
  return sinking.map((how) =>
    command(
      `${name}${how.dies ? ', killed after' : ''}${how.takes < 9 ? ` taking ${how.takes}` : ''}`,
      (model, real) => {
        const accepted = act(real, model.rows, how);
        same(accepted, act(model, model.rows, how));
        if (how.dies && accepted.length > 0) {
          model.start({ is: 'resume' });
          real.open({ is: 'resume' });
        }
      },
    ),
  );
}

const commands: fc.Arbitrary<Command>[] = [
  fc
    .array(fc.record({ gap: fc.integer({ min: 1, max: 3 }), from: fc.constantFrom('river', 'bo', 'Bo', 'ada') }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((mails) =>
      command(`mail from ${mails.map(({ from }) => from).join(', ')}`, (model) => {
        for (const { gap, from } of mails) model.rows.push({ id: (model.rows.at(-1)?.id ?? 0) + gap, from });
      }),
    ),
  sunk('poll', (target, rows, how) => (target instanceof Real ? target.poll(rows, how) : target.poll(how))),
  sunk('fail', (target, _, how) => target.fail(how)),
  sunk('beat', (target, _, how) => target.beat(how)),
  sinking.map((how) =>
    command(`F5 the hive begins again${how.dies ? ', killed after' : ''} taking ${how.takes}`, (model, real) => {
      if (!model.canBeginAgain()) return;
      model.rows.splice(0, model.rows.length, { id: 1, from: 'again' });
      same(real.poll(model.rows, how), model.poll(how));
      if (!how.dies) return;
      model.start({ is: 'resume' });
      real.open({ is: 'resume' });
    }),
  ),
  fc.constantFrom(1000, 59_000, 60_000).map((ms) =>
    command(`${ms / 1000} s`, (model, real) => {
      model.pass(ms);
      real.pass(ms);
    }),
  ),
  fc.constant(
    command('restart', (model, real) => {
      model.start({ is: 'resume' });
      real.open({ is: 'resume' });
    }),
  ),
  fc.nat(12).map((id) =>
    command(`restart with seed ${id}`, (model, real) => {
      model.start({ is: 'seed', id });
      real.open({ is: 'seed', id });
    }),
  ),
];

const arbitraryRules: fc.Arbitrary<ReferenceRules> = fc.record({
  me: fc.constant('ada'),
  suppressed: fc.constant('bo'),
  pollSeconds: fc.constant(60),
  alertAfter: fc.integer({ min: 1, max: 3 }),
  maxReplay: fc.nat(4),
  heartbeatMs: fc.constantFrom(null, 60_000),
  delivery: fc.constantFrom('at-most-once', 'at-least-once'),
});

const begins = fc.constantFrom<Begin>({ is: 'resume' }, { is: 'born' });

test('whatever happens, a watch says what the reference says: never a skip, never a duplicate', () => {
  fc.assert(
    fc.property(
      arbitraryRules,
      begins,
      fc.commands(commands, { maxCommands: 40, size: 'max' }),
      (rules, begin, happens) => {
        const model = new Reference(rules);
        model.start(begin);
        const real = new Real(rules, begin);
        fc.modelRun(() => ({ model, real }), happens);

        // At rest: one healthy poll with a willing sink.
        const all = { takes: Number.POSITIVE_INFINITY, dies: false };
        same(real.poll(model.rows, all), model.poll(all));
        const named = new Set(
          real.delivered.filter(isMail).map(({ event_id, from, id }) => `${event_id} ${from} ${id}`),
        );
        const ids = new Set(real.delivered.filter(isMail).map(({ event_id }) => event_id));
        assert.equal(named.size, ids.size, 'one event_id for two messages');
        const mail = real.delivered
          .filter(isMail)
          .map(({ id, event_id }) => model.keyIn(real.logs.indexOf(event_id.split('@')[1] ?? ''), id));
        assert.deepEqual(mail, model.delivered);
        assert.deepEqual(model.missing(), [], 'a skip');
        const repeated = mail.filter((id, i) => mail.indexOf(id) !== i && !model.repeatable.has(id));
        assert.deepEqual(repeated, [], 'a duplicate');
        assert.equal(real.armed, 1, 'one armed a start');
        assert.deepEqual(
          real.poll(model.rows, all).filter((words) => !words.startsWith('heartbeat')),
          [],
          'looking again says nothing',
        );
      },
    ),
    { numRuns: 1500 },
  );
});
