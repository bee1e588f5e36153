import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dueFor, type Pace, retryDelay } from './due.ts';

const QUIET: Pace = { armed: true, healthy: true, recent: false, retryAt: null, unread: 2, skipped: 0 };
const NO_ANSWER = null;

function due(pace: Partial<Pace>, counted: number | null = 2, asked = false): string | null {
  return dueFor({ ...QUIET, ...pace }, counted, 1000, 10, asked);
}

describe('an inbox is fetched', () => {
  test('to arm, whatever the pending list says', () => {
    assert.equal(due({ armed: false }), 'arm');
    assert.equal(due({ armed: false, unread: null }, NO_ANSWER), 'arm');
  });
  test('when unread rose above what was known', () => assert.equal(due({}, 3), 'unread'));
  test('when nothing was known before', () => assert.equal(due({ unread: null }, 0), 'unread'));
  test('without an answer of the pending list', () => assert.equal(due({}, NO_ANSWER), 'fallback'));
  test('while it fails, on every tick', () => assert.equal(due({ healthy: false }), 'failing'));
  test('when somebody asks', () => assert.equal(due({}, 2, true), 'asked'));
  test('after as many skips as the floor allows, and not one before', () => {
    assert.equal(due({ skipped: 9 }), null);
    assert.equal(due({ skipped: 10 }), 'floor');
  });
  test('to offer held events again, when their time has come', () => {
    assert.equal(due({ retryAt: 1000 }), 'retry');
    assert.equal(due({ retryAt: 1001 }, 2, true), 'retry');
  });
});

describe('an inbox is left alone', () => {
  test('while unread is what it was, or fell', () => {
    assert.equal(due({}, 2), null);
    assert.equal(due({}, 0), null);
  });
  test('while its sink refuses and the time to try again has not come, whatever else is due', () => {
    assert.equal(due({ retryAt: 1001, skipped: 99 }, 9), null);
    assert.equal(due({ retryAt: 1001 }, NO_ANSWER), null);
  });
  test('while it fails and was looked at a moment ago: an early tick is no further failure', () => {
    assert.equal(due({ healthy: false, recent: true }), null);
    assert.equal(due({ healthy: false, recent: true, armed: false }), null);
    assert.equal(due({ healthy: false, recent: true }, NO_ANSWER), null);
  });
  test('but new mail in it, or somebody who asks, is a reason to look again at once', () => {
    assert.equal(due({ healthy: false, recent: true }, 3), 'unread');
    assert.equal(due({ healthy: false, recent: true }, 2, true), 'asked');
  });
  test('a healthy one is not held back by a recent look', () => {
    assert.equal(due({ recent: true }, NO_ANSWER), 'fallback');
    assert.equal(due({ recent: true, armed: false }), 'arm');
  });
});

test('held events are offered again after 1 s, doubled, at most 30 s', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 2000].map(retryDelay),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
});
