import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CountsChange, computeRetryDelay, findPollReason, type Pace } from './watcher.ts';

const QUIET: Pace = { armed: true, healthy: true, recent: false, retryAt: null, overdue: false };

/** What is due for an inbox of this pace; `counts` is what the list says, `at` 1000, nobody asked. */
const due = (pace: Partial<Pace>, counts: CountsChange = 'same', asked = false) =>
  findPollReason({ ...QUIET, ...pace }, counts, 1000, asked);

test('quiet, nothing is due', () => assert.equal(due({}), null));

test('F1 whatever changes a count is fetched, and so is what happened without changing one', () => {
  assert.equal(due({}, 'changed'), 'changed');
  assert.equal(due({}, 'doubtful'), 'doubt');
});

test('without an answer, the inbox is fetched', () => assert.equal(due({}, 'unknown'), 'fallback'));

test('one that is overdue is fetched whatever the count says', () => assert.equal(due({ overdue: true }), 'floor'));

test('one that is not armed, or fails, is fetched on every tick', () => {
  assert.equal(due({ armed: false }), 'arm');
  assert.equal(due({ healthy: false }), 'failing');
});

test('held events wait for their own schedule, unless somebody asks', () => {
  assert.equal(due({ retryAt: 2000 }, 'changed'), null);
  assert.equal(due({ retryAt: 1000 }), 'retry');
  assert.equal(due({ retryAt: 2000 }, 'same', true), 'retry');
});

test('a tick that comes early is no further poll of an inbox that fails, unless its count changed', () => {
  const failing = { healthy: false, recent: true };
  for (const counts of ['same', 'unknown', 'doubtful'] as const) assert.equal(due(failing, counts), null);
  assert.equal(due({ ...failing, armed: false, overdue: true }), null);
  assert.equal(due(failing, 'changed'), 'changed');
  assert.equal(due(failing, 'same', true), 'asked');
});

test('held events are offered again after 1 s, doubled, at most 30 s', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 2000].map(computeRetryDelay),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
});
