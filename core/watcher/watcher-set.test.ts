import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { REFUSED, RULES, toSetPollResult } from '../../test/kit/transcript.ts';
import { EMPTY_TAIL, type Sink } from '../sinks/index.ts';
import type { Checkpoint, Source } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { createWatcher, type PollOutcome, type Watcher } from './watcher.ts';
import type { SavedState } from './watcher-state.ts';

const never = new AbortController().signal;

interface Rig {
  readonly watcher: Watcher;
  poll(...words: readonly string[]): Promise<PollOutcome>;
  /** The names of each take's events, and what it was to keep. */
  readonly takes: { readonly batchWords: string; readonly saved: SavedState }[];
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
    poll(_, checkpoint) {
      from.push(checkpoint);
      return toSetPollResult(words, clock.now());
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const sink: Sink<SavedState> = {
    savesState: true,
    open: async () => EMPTY_TAIL,
    async take(events, saved) {
      takes.push({ batchWords: events.map((event) => event.event).join(' '), saved });
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
    poll(...now) {
      words = now;
      return watcher.poll((run) => run(), never, never);
    },
  };
  return self;
}

const formatKeys = (saved: SavedState | undefined): unknown =>
  saved?.known?.keys.map(({ key, fingerprint }) => `${key} ${fingerprint}`);

test('what is remembered without an event is given to the sink as well, and a look that is the same gives nothing', async () => {
  const { poll, takes } = rig();
  await poll('a');
  await poll('a', 'b.read');
  await poll('a', 'b.read');
  await poll('a', 'b');
  assert.deepEqual(
    takes.map(({ batchWords, saved }) => [batchWords, formatKeys(saved)]),
    [
      ['persona_added armed new', ['a fresh']],
      ['', ['a fresh', 'b read']],
      ['', ['a fresh', 'b fresh']],
    ],
  );
});

test('a source is asked from what was told', async () => {
  const self = rig();
  await self.poll('a');
  self.isRefusing = true;
  await self.poll('a', 'b');
  await self.poll('a', 'b');
  assert.deepEqual(
    self.from.map((checkpoint) => (checkpoint.is === 'known' ? checkpoint.keys.map(({ key }) => key) : checkpoint.is)),
    ['at', ['a'], ['a']],
  );
});

test('a large set goes part by part, and waits where the sink refuses', async () => {
  const self = rig();
  await self.poll();
  const all = Array.from({ length: 120 }, (_, i) => `k${i}`);
  const ack = self.poll(...all);
  await ack;
  assert.deepEqual(
    self.takes.slice(1).map(({ batchWords }) => batchWords.split(' ').length),
    [50, 50, 20],
  );
  self.isRefusing = true;
  await self.poll();
  assert.deepEqual([self.takes.length, self.watcher.isDelivering], [5, false]);
  assert.notEqual(self.watcher.retryAt, null);
  self.isRefusing = false;
  await self.poll();
  assert.deepEqual(
    self.takes.slice(5).map(({ batchWords }) => new Set(batchWords.split(' '))),
    Array(3).fill(new Set(['gone'])),
  );
  assert.deepEqual(formatKeys(self.takes.at(-1)?.saved), []);
});
