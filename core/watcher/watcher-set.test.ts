import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { REFUSED, RULES, setLookOf } from '../../test/kit/transcript.ts';
import { EMPTY_TAIL, type Sink } from '../sinks/index.ts';
import type { Checkpoint, Source } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { createWatcher, type PollOutcome, type Watcher } from './watcher.ts';
import type { SavedState } from './watcher-state.ts';

const never = new AbortController().signal;

interface Rig {
  readonly watcher: Watcher;
  look(...words: readonly string[]): Promise<PollOutcome>;
  /** The names of each take's events, and what it was to keep. */
  readonly takes: { readonly said: string; readonly kept: SavedState }[];
  /** The marks that looks were asked from. */
  readonly from: Checkpoint[];
  isRefusing: boolean;
}

/** A watch of a set that begins with all of it new, and whose sink keeps the mark. */
function rig(): Rig {
  const clock = fakeClock();
  const rules = { ...RULES, delivery: 'at-least-once' } as const;
  const takes: Rig['takes'] = [];
  const from: Checkpoint[] = [];
  let words: readonly string[] = [];
  const source: Source = {
    id: 'garden',
    kind: 'garden',
    personas: async () => [],
    poll(_, mark) {
      from.push(mark);
      return setLookOf(words, clock.now());
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const sink: Sink<SavedState> = {
    savesState: true,
    open: async () => EMPTY_TAIL,
    async take(events, kept) {
      takes.push({ said: events.map((event) => event.event).join(' '), kept });
      return self.isRefusing ? { is: 'stopped', count: 0, fault: REFUSED } : { is: 'all' };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const watcher = createWatcher({
    ...{ persona: { id: 'ada', address: 'ada', label: 'ada' }, source, sink, saver: null, rules, clock },
    state: createInitialState(clock.now(), { is: 'born' }, null, EMPTY_TAIL, rules),
    put: () => {},
    settling: () => false,
  });
  const self: Rig = {
    ...{ watcher, takes, from, isRefusing: false },
    look(...now) {
      words = now;
      return watcher.poll((run) => run(), never, never);
    },
  };
  return self;
}

const keysOf = (kept: SavedState | undefined): unknown =>
  kept?.known?.keys.map(({ key, fingerprint }) => `${key} ${fingerprint}`);

test('what is remembered without an event is given to the sink as well, and a look that is the same gives nothing', async () => {
  const { look, takes } = rig();
  await look('a');
  await look('a', 'b.read');
  await look('a', 'b.read');
  await look('a', 'b');
  assert.deepEqual(
    takes.map(({ said, kept }) => [said, keysOf(kept)]),
    [
      ['persona_added armed new', ['a fresh']],
      ['', ['a fresh', 'b read']],
      ['', ['a fresh', 'b fresh']],
    ],
  );
});

test('a source is asked from what was told', async () => {
  const self = rig();
  await self.look('a');
  self.isRefusing = true;
  await self.look('a', 'b');
  await self.look('a', 'b');
  assert.deepEqual(
    self.from.map((mark) => (mark.is === 'known' ? mark.keys.map(({ key }) => key) : mark.is)),
    ['at', ['a'], ['a']],
  );
});

test('a large set goes part by part, and waits where the sink refuses', async () => {
  const self = rig();
  await self.look();
  const all = Array.from({ length: 120 }, (_, i) => `k${i}`);
  const taken = self.look(...all);
  await taken;
  assert.deepEqual(
    self.takes.slice(1).map(({ said }) => said.split(' ').length),
    [50, 50, 20],
  );
  self.isRefusing = true;
  await self.look();
  assert.deepEqual([self.takes.length, self.watcher.isDelivering], [5, false]);
  assert.notEqual(self.watcher.retryAt, null);
  self.isRefusing = false;
  await self.look();
  assert.deepEqual(
    self.takes.slice(5).map(({ said }) => new Set(said.split(' '))),
    Array(3).fill(new Set(['gone'])),
  );
  assert.deepEqual(keysOf(self.takes.at(-1)?.kept), []);
});
