import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TurnBoundaryKind } from '../../core/link/index.ts';
import type { Deed } from './daemon-deed.ts';
import { World } from './daemon-world.ts';

const PLAIN = { noNullPrototype: true };
const MINUTE = 60_000;

type Of<Is extends Deed['is']> = Omit<Extract<Deed, { is: Is }>, 'is'>;

function deed<Is extends Deed['is']>(
  is: Is,
  of: { readonly [Key in keyof Of<Is>]: fc.Arbitrary<Of<Is>[Key]> },
): fc.Arbitrary<Deed> {
  return fc.record(of, PLAIN).map((rest) => ({ is, ...rest }) as unknown as Deed);
}

const boundary = deed('boundary', {
  kind: fc.constantFrom('Stop', 'Stop', 'UserPromptSubmit', 'SessionStart', 'agent-turn-complete'),
  turn: fc.integer({ min: 0, max: 3 }),
});
const some = fc.integer({ min: 1, max: 4 });
const isMostly = fc.constantFrom(true, true, true, false);

/** Mostly a day like any other, so that there is something to lose when it goes wrong. */
const anything: fc.Arbitrary<readonly Deed[]> = fc.oneof(
  { weight: 8, arbitrary: one(boundary) },
  { weight: 5, arbitrary: one(deed('signals', { count: some })) },
  { weight: 4, arbitrary: one(deed('drain', { max: some, isTold: isMostly })) },
  { weight: 5, arbitrary: one(deed('frames', { count: some })) },
  { weight: 5, arbitrary: one(deed('welcome', { restarts: fc.constantFrom(false, false, false, true) })) },
  { weight: 8, arbitrary: one(deed('peek', { how: fc.constantFrom('now', 'now', 'now', 'old', 'fails', 'back') })) },
  { weight: 6, arbitrary: one(deed('surface', { takes: isMostly })) },
  {
    weight: 6,
    arbitrary: one(
      deed('pass', { ms: fc.constantFrom(10, 1_000, 1_000, 2_500, 12_000, 31_000, 50_000, 2 * MINUTE, 11 * MINUTE) }),
    ),
  },
  {
    weight: 1,
    arbitrary: one(deed('sleep', { ms: fc.constantFrom(-30_000, 3_000, 21_000, 60 * MINUTE), isFrozen: fc.boolean() })),
  },
  {
    weight: 3,
    arbitrary: one(
      fc.oneof(
        { weight: 40, arbitrary: closed(null, 1000, 1006, 4401, 4409, 4429) },
        { weight: 1, arbitrary: fc.oneof(closed(4403, 4410), deed('lifecycle', {}), deed('shutdown', {})) },
      ),
    ),
  },
  { weight: 1, arbitrary: one(deed('half_open', {})) },
  { weight: 1, arbitrary: one(deed('garbled', {})) },
  { weight: 1, arbitrary: one(deed('operator', {})) },
  {
    weight: 3,
    arbitrary: one(
      deed('activity', {
        agoMs: fc.constantFrom(0, 0, 500, 5_000),
        moment: fc.constantFrom('Stop', 'Stop', 'UserPromptSubmit', 'PostToolUse', 'Continued', 'SessionEnd', null),
      }),
    ),
  },
  { weight: 1, arbitrary: one(deed('heartbeat', { fails: fc.boolean() })) },
  { weight: 1, arbitrary: one(deed('index_lost', {})) },
  { weight: 1, arbitrary: one(deed('deaf', {})) },
  { weight: 3, arbitrary: one(deed('ghost', { of: fc.nat({ max: 500 }) })) },
  // A peek that is overtaken.
  {
    weight: 2,
    arbitrary: fc
      .tuple(some, fc.boolean(), boundary)
      .map(([count, drains, rings]): readonly Deed[] => [
        { is: 'pass', ms: 1_300 },
        { is: 'welcome', restarts: false },
        { is: 'signals', count },
        ...(drains ? [{ is: 'drain', max: 9, isTold: true } as const] : []),
        { is: 'frames', count: 9 },
        { is: 'peek', how: 'old' },
        rings,
      ]),
  },
  // A whole good while: connected, something came, the agent is rung and at rest, or about to be.
  {
    weight: 6,
    arbitrary: fc
      .tuple(some, boundary, fc.boolean())
      .map(([count, rings, takes]): readonly Deed[] => [
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

function one(of: fc.Arbitrary<Deed>): fc.Arbitrary<readonly Deed[]> {
  return of.map((deed) => [deed]);
}

function closed(...codes: readonly (number | null)[]): fc.Arbitrary<Deed> {
  return deed('close', {
    code: fc.constantFrom(...codes),
    retryAfterMs: fc.constantFrom(null, 0, 500, 5 * MINUTE),
  });
}

const up: readonly Deed[] = [
  { is: 'pass', ms: 1_300 },
  { is: 'welcome', restarts: false },
];
const now: Deed = { is: 'peek', how: 'now' };
const signal: Deed = { is: 'signals', count: 1 };
const untold: Deed = { is: 'drain', max: 1, isTold: false };
const taken: Deed = { is: 'surface', takes: true };
const frames: Deed = { is: 'frames', count: 9 };
const old: Deed = { is: 'peek', how: 'old' };

/** Drains without a word, which only the oldest that waits can show. */
const TOLD_LATE: [readonly Deed[], boolean][] = [
  // The index is lost with a peek on its way. The agent stops once more after the drain, and is woken.
  [
    [
      ...[...up, signal, frames, old, { is: 'index_lost' } as const, now, at('Stop', 0)],
      ...[untold, { is: 'pass', ms: 1_300 } as const, signal, frames, now, at('Stop', 0)],
      ...[{ is: 'drain', max: 1, isTold: true } as const, signal],
    ],
    true,
  ],
  // A frame of what was answered already comes while a peek is on its way.
  [
    [
      ...[...up, signal, now, at('UserPromptSubmit', 0), taken, untold, signal],
      ...[{ is: 'operator' } as const, { is: 'frames', count: 1 } as const, now, at('UserPromptSubmit', 1)],
    ],
    false,
  ],
  // It was drained before the ring, over a connection before this one, and what was rung for still waits.
  [
    [
      ...[...up, signal, now, { is: 'close', code: null, retryAfterMs: null } as const, untold, ...up],
      ...[signal, frames, old, signal, frames, old],
      ...[at('UserPromptSubmit', 0), taken, { is: 'deaf' } as const, now, now],
    ],
    false,
  ],
];

function at(kind: TurnBoundaryKind, turn: number): Deed {
  return { is: 'boundary', kind, turn };
}

test('persona daemon check 5, check 7: whatever happens, it rings only reconciled on the same connection, once for a boundary, never while one is outstanding, and nothing is lost', () => {
  const seen = { boundary: 0, wake: 0, stopped: 0, moves: new Set<string>() };
  fc.assert(
    fc.property(story, fc.boolean(), (deeds, wakeIdle) => {
      const world = new World(wakeIdle);
      for (const deed of deeds) world.do(deed);
      world.settle();
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
    { numRuns: 800, examples: TOLD_LATE },
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
