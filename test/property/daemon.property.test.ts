import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TurnBoundaryKind } from '../../core/link/index.ts';
import type { DaemonStep } from './daemon-step.ts';
import { World } from './daemon-world.ts';

const PLAIN = { noNullPrototype: true };
const MINUTE = 60_000;

type Of<Is extends DaemonStep['is']> = Omit<Extract<DaemonStep, { is: Is }>, 'is'>;

function step<Is extends DaemonStep['is']>(
  is: Is,
  fields: { readonly [Key in keyof Of<Is>]: fc.Arbitrary<Of<Is>[Key]> },
): fc.Arbitrary<DaemonStep> {
  return fc.record(fields, PLAIN).map((rest) => ({ is, ...rest }) as unknown as DaemonStep);
}

const turnBoundary = step('boundary', {
  kind: fc.constantFrom('Stop', 'Stop', 'UserPromptSubmit', 'SessionStart', 'agent-turn-complete'),
  turn: fc.integer({ min: 0, max: 3 }),
});
const fewItems = fc.integer({ min: 1, max: 4 });
const isMostly = fc.constantFrom(true, true, true, false);

/** Mostly a day like any other, so that there is something to lose when it goes wrong. */
const anything: fc.Arbitrary<readonly DaemonStep[]> = fc.oneof(
  { weight: 8, arbitrary: one(turnBoundary) },
  { weight: 5, arbitrary: one(step('signals', { count: fewItems })) },
  { weight: 4, arbitrary: one(step('drain', { max: fewItems, isNotified: isMostly })) },
  { weight: 5, arbitrary: one(step('frames', { count: fewItems })) },
  { weight: 5, arbitrary: one(step('welcome', { restarts: fc.constantFrom(false, false, false, true) })) },
  { weight: 8, arbitrary: one(step('peek', { how: fc.constantFrom('now', 'now', 'now', 'old', 'fails', 'back') })) },
  { weight: 6, arbitrary: one(step('surface', { takes: isMostly })) },
  {
    weight: 6,
    arbitrary: one(
      step('pass', { ms: fc.constantFrom(10, 1_000, 1_000, 2_500, 12_000, 31_000, 50_000, 2 * MINUTE, 11 * MINUTE) }),
    ),
  },
  {
    weight: 1,
    arbitrary: one(step('sleep', { ms: fc.constantFrom(-30_000, 3_000, 21_000, 60 * MINUTE), isFrozen: fc.boolean() })),
  },
  {
    weight: 3,
    arbitrary: one(
      fc.oneof(
        { weight: 40, arbitrary: closed(null, 1000, 1006, 4401, 4409, 4429) },
        { weight: 1, arbitrary: fc.oneof(closed(4403, 4410), step('lifecycle', {}), step('shutdown', {})) },
      ),
    ),
  },
  { weight: 1, arbitrary: one(step('half_open', {})) },
  { weight: 1, arbitrary: one(step('garbled', {})) },
  { weight: 1, arbitrary: one(step('operator', {})) },
  {
    weight: 3,
    arbitrary: one(
      step('activity', {
        agoMs: fc.constantFrom(0, 0, 500, 5_000),
        moment: fc.constantFrom('Stop', 'Stop', 'UserPromptSubmit', 'PostToolUse', 'Continued', 'SessionEnd', null),
      }),
    ),
  },
  { weight: 1, arbitrary: one(step('heartbeat', { fails: fc.boolean() })) },
  { weight: 1, arbitrary: one(step('index_lost', {})) },
  { weight: 1, arbitrary: one(step('deaf', {})) },
  { weight: 3, arbitrary: one(step('ghost', { of: fc.nat({ max: 500 }) })) },
  // A peek that is overtaken.
  {
    weight: 2,
    arbitrary: fc
      .tuple(fewItems, fc.boolean(), turnBoundary)
      .map(([count, drains, rings]): readonly DaemonStep[] => [
        { is: 'pass', ms: 1_300 },
        { is: 'welcome', restarts: false },
        { is: 'signals', count },
        ...(drains ? [{ is: 'drain', max: 9, isNotified: true } as const] : []),
        { is: 'frames', count: 9 },
        { is: 'peek', how: 'old' },
        rings,
      ]),
  },
  // A whole good while: connected, something came, the agent is rung and at rest, or about to be.
  {
    weight: 6,
    arbitrary: fc
      .tuple(fewItems, turnBoundary, fc.boolean())
      .map(([count, rings, takes]): readonly DaemonStep[] => [
        { is: 'pass', ms: 1_300 },
        { is: 'welcome', restarts: false },
        { is: 'signals', count },
        { is: 'frames', count: 9 },
        { is: 'peek', how: 'now' },
        { is: 'peek', how: 'now' },
        rings,
        ...(takes ? [{ is: 'surface', takes: true } as const] : []),
      ]),
  },
);
const story = fc.array(anything, { minLength: 5, maxLength: 60, size: 'max' }).map((parts) => parts.flat());

function one(arbitrary: fc.Arbitrary<DaemonStep>): fc.Arbitrary<readonly DaemonStep[]> {
  return arbitrary.map((step) => [step]);
}

function closed(...codes: readonly (number | null)[]): fc.Arbitrary<DaemonStep> {
  return step('close', {
    code: fc.constantFrom(...codes),
    retryAfterMs: fc.constantFrom(null, 0, 500, 5 * MINUTE),
  });
}

const up: readonly DaemonStep[] = [
  { is: 'pass', ms: 1_300 },
  { is: 'welcome', restarts: false },
];
const now: DaemonStep = { is: 'peek', how: 'now' };
const signal: DaemonStep = { is: 'signals', count: 1 };
const untold: DaemonStep = { is: 'drain', max: 1, isNotified: false };
const accepts: DaemonStep = { is: 'surface', takes: true };
const frames: DaemonStep = { is: 'frames', count: 9 };
const old: DaemonStep = { is: 'peek', how: 'old' };

/** Drains without a word, which only the oldest that waits can show. */
const LATE_STORIES: [readonly DaemonStep[], boolean][] = [
  // The index is lost with a peek on its way. The agent stops once more after the drain, and is woken.
  [
    [
      ...[...up, signal, frames, old, { is: 'index_lost' } as const, now, at('Stop', 0)],
      ...[untold, { is: 'pass', ms: 1_300 } as const, signal, frames, now, at('Stop', 0)],
      ...[{ is: 'drain', max: 1, isNotified: true } as const, signal],
    ],
    true,
  ],
  // A frame of what was answered already comes while a peek is on its way.
  [
    [
      ...[...up, signal, now, at('UserPromptSubmit', 0), accepts, untold, signal],
      ...[{ is: 'operator' } as const, { is: 'frames', count: 1 } as const, now, at('UserPromptSubmit', 1)],
    ],
    false,
  ],
  // It was drained before the ring, over a connection before this one, and what was rung for still waits.
  [
    [
      ...[...up, signal, now, { is: 'close', code: null, retryAfterMs: null } as const, untold, ...up],
      ...[signal, frames, old, signal, frames, old],
      ...[at('UserPromptSubmit', 0), accepts, { is: 'deaf' } as const, now, now],
    ],
    false,
  ],
];

function at(kind: TurnBoundaryKind, turn: number): DaemonStep {
  return { is: 'boundary', kind, turn };
}

test('persona daemon check 5, check 7: whatever happens, it rings only reconciled on the same connection, once for a boundary, never while one is outstanding, and nothing is lost', () => {
  const seen = { boundary: 0, wake: 0, stopped: 0, moves: new Set<string>() };
  fc.assert(
    fc.property(story, fc.boolean(), (steps, wakeIdle) => {
      const world = new World(wakeIdle);
      for (const step of steps) world.do(step);
      world.waitUntilQuiet();
      if (!world.isStopped) {
        assert.deepEqual(
          world.drained.toSorted((a, b) => a - b),
          Array.from({ length: world.sent }, (_, n) => n + 1),
          'each drained exactly once',
        );
      }
      for (const way of world.witness.rings) seen[way] += 1;
      for (const move of world.witness.moves) seen.moves.add(move);
      if (world.isStopped) seen.stopped += 1;
    }),
    { numRuns: 800, examples: LATE_STORIES },
  );
  // The stories are worth telling: they ring both ways, and go along every arrow there is.
  assert.ok(seen.boundary > 300 && seen.wake > 30 && seen.stopped > 3, JSON.stringify(seen));
  assert.deepEqual([...seen.moves].sort(), [
    'CONNECTED>DISCONNECTED',
    'CONNECTED>EMITTING',
    'DISCONNECTED>RECONCILING',
    'EMITTING>CONNECTED',
    'EMITTING>DISCONNECTED',
    'RECONCILING>CONNECTED',
    'RECONCILING>DISCONNECTED',
  ]);
});
