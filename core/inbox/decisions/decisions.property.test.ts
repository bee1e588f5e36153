import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { asks, type DecisionRig, decisionRig, PLACES, type Place, says } from '../../../test/kit/decisions.ts';
import type { DecisionResult, Decisions } from './index.ts';

const PERSONAS = ['ada', 'bo'] as const;
const MINUTE = 60_000;
const MOST = 3;

/** The model, as dumb as can be: what is known of each decision, without rows, gates or transactions. */
interface ModelDecision {
  readonly persona: string;
  readonly iteration: number;
  readonly fallback: string | null;
  readonly spanMs: number | null;
  expires: number | null;
  state: string;
  isDue: boolean;
}

type Move =
  | { readonly is: 'create'; readonly persona: string; readonly fallback: boolean; readonly minutes: number | null }
  | { readonly is: 'select' | 'text' | 'accept' | 'cancel' | 'own-cancel'; readonly which: number }
  | { readonly is: 'pass'; readonly minutes: number }
  | { readonly is: 'reconcile' };

const which = fc.nat(5);
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({
    is: fc.constant('create' as const),
    persona: fc.constantFrom(...PERSONAS),
    fallback: fc.boolean(),
    minutes: fc.option(fc.integer({ min: 1, max: 30 })),
  }),
  fc.record({ is: fc.constantFrom('select', 'select', 'text', 'accept', 'cancel', 'own-cancel'), which }),
  fc.record({ is: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 20 }) }),
  fc.constant({ is: 'reconcile' as const }),
);

class Model {
  readonly all = new Map<number, ModelDecision>();

  add(persona: string, iteration: number, fallback: string | null, spanMs: number | null, now: number): void {
    const expires = spanMs === null ? null : now + spanMs;
    this.all.set(this.all.size + 1, { persona, iteration, fallback, spanMs, expires, state: 'open', isDue: false });
  }

  pass(now: number): void {
    for (const known of this.all.values()) {
      if (known.state !== 'open' || known.expires === null || known.expires > now) continue;
      known.state = known.fallback === null ? 'timed-out' : 'resolved a by nobody';
      known.isDue = true;
    }
  }

  /** What the move makes of a decision that is open; null: it is refused. */
  answer(known: ModelDecision, is: string, now: number): boolean {
    if (is === 'text' && known.iteration === MOST) return false;
    known.state = is === 'select' ? 'resolved b' : is === 'own-cancel' || is === 'cancel' ? 'cancelled' : 'resolved t';
    known.isDue = is !== 'own-cancel';
    if (is === 'text') this.add(known.persona, known.iteration + 1, known.fallback, known.spanMs, now);
    return true;
  }
}

function readState(decisions: Decisions, id: number): string {
  const outcome = decisions.get(id)?.outcome;
  if (outcome === undefined) return 'none';
  if (outcome.is !== 'resolved') return outcome.is;
  return `resolved ${outcome.choice ?? outcome.text}${outcome.by === null ? ' by nobody' : ''}`;
}

function answer(decisions: Decisions, is: string, id: number, persona: string): DecisionResult {
  switch (is) {
    case 'select':
      return decisions.respond(id, says({ select: 'b' }));
    case 'text':
      return decisions.respond(id, says({ text: 't' }));
    case 'accept':
      return decisions.respond(id, says({ text: 't', acceptGuidance: true }));
    default:
      return decisions.cancel(id, is === 'cancel' ? 'operator' : persona, null);
  }
}

/** Every push comes after the gate and before its wake and event, and no inbox has two of one key. */
function inOrder({ done }: DecisionRig, findPersona: (id: number) => string): void {
  const pushed = new Set<number>();
  for (const [i, line] of done.entries()) {
    const [verb, about = '', state] = line.split(' ');
    if (verb === 'push') pushed.add(Number(about.split(':')[1]));
    if (verb === 'wake') assert.match(done[i - 1] ?? '', /^push /, 'a wake comes right behind its push');
    if (verb === 'wake') assert.equal(about, findPersona(Number(/\d+$/.exec(done[i - 1] ?? '')?.[0])));
    if (verb !== 'emit' || state === 'open' || state === 'cancelled') continue;
    assert.ok(pushed.has(Number(about)), `${line} is no event before the push`);
  }
}

test('the life of decisions is that of the model, whatever crashes: one answer each, no push lost, the order kept', () => {
  const step = fc.record({ move, crash: fc.option(fc.constantFrom(...PLACES), { freq: 2 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      using rig = decisionRig();
      const model = new Model();
      const processes = [rig.start(), rig.start()] as const;
      for (const [i, { move: next, crash }] of steps.entries())
        run(rig, model, processes[i % 2] ?? processes[0], next, crash);
      const [decisions] = processes;
      rig.start().reconcile();
      model.pass(rig.clock.now());
      for (const [id, known] of model.all) {
        assert.equal(readState(decisions, id), known.state, `decision ${id}`);
        assert.equal(decisions.get(id)?.expires, known.expires, `decision ${id}`);
        assert.equal(rig.inbox.has(`decision:${id}`), known.isDue, `decision ${id} is told once it is closed`);
      }
      assert.equal(decisions.get(model.all.size + 1), null);
      for (const persona of PERSONAS) {
        if (![...model.all.values()].some((decision) => decision.persona === persona && decision.state === 'open'))
          continue;
        assert.equal(rig.gates.get(persona), 'open', `${persona} is asking`);
      }
      inOrder(rig, (id) => model.all.get(id)?.persona ?? '');
    }),
    { numRuns: 300 },
  );
});

/** One move in both. With a crash it is looked up afterwards whether it was committed: both are right. */
function run(rig: DecisionRig, model: Model, decisions: Decisions, next: Move, crash: Place | null): void {
  const now = rig.clock.now();
  if (next.is === 'pass') {
    rig.clock.setBy(now - 1_750_000_000_000 + next.minutes * MINUTE);
    return;
  }
  const before = model.all.size;
  rig.crashAt(crash);
  let done: DecisionResult | null = null;
  let refused = false;
  let isGone = false;
  const id = next.is === 'create' || next.is === 'reconcile' ? before + 1 : (next.which % (before + 2)) + 1;
  const known = model.all.get(id);
  try {
    if (next.is === 'reconcile') decisions.reconcile();
    else if (next.is === 'create') {
      const forMs = next.minutes === null ? null : next.minutes * MINUTE;
      decisions.create(
        asks({ persona: next.persona, fallback: next.fallback ? 'a' : null, forMs, mostIterations: MOST }),
      );
    } else done = answer(decisions, next.is, id, known?.persona ?? 'ada');
  } catch (error) {
    isGone = rig.isDead;
    refused = !isGone;
    if (refused && !/iteration 3 of 3/.test(String(error))) throw error;
  }
  isGone ||= rig.isDead;
  rig.crashAt(null);
  const again = rig.start(); // whoever comes next
  if (next.is === 'create') {
    const isThere = again.get(id) !== null;
    assert.ok(isThere || isGone, 'what was asked is there');
    if (isThere)
      model.add(next.persona, 1, next.fallback ? 'a' : null, next.minutes === null ? null : next.minutes * MINUTE, now);
    return;
  }
  if (next.is === 'reconcile') {
    if (isGone) again.reconcile();
    model.pass(now);
    return;
  }
  if (known === undefined) {
    assert.deepEqual(done ?? { is: 'none' }, { is: 'none' });
    return;
  }
  const isOver = known.state === 'open' && known.expires !== null && known.expires <= now;
  if (isOver) {
    again.reconcile();
    model.pass(now);
    assert.ok(isGone || done?.is === 'too-late', 'the time was over');
    return;
  }
  if (known.state !== 'open') {
    assert.ok(isGone || done?.is === 'too-late', 'it was answered before');
    return;
  }
  if (isGone && readState(again, id) === 'open') return; // it never came to that
  assert.equal(model.answer(known, next.is, now), !refused);
  if (!isGone && !refused) assert.equal(done?.is, 'done');
}
