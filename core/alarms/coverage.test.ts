import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCoverage } from './coverage.ts';

test('coverage is as good as the inbox that was looked at least', () => {
  const seen = createCoverage();
  for (const name of ['ada', 'bo']) seen.addInbox(name);
  assert.deepEqual([seen.since, seen.upTo, seen.floor], [null, null, null]);
  seen.setCursor('ada', 12);
  seen.setCursor('bo', 7);
  assert.equal(seen.floor, 12, 'what ada sent below 12 into her own inbox, or bo wrote there, was not seen');
  for (const at of [100, 110]) seen.endRound(at, 12);
  seen.markPolled('ada');
  assert.equal(seen.since, null);
  seen.markPolled('bo');
  assert.deepEqual([seen.since, seen.upTo], [100, 12]);
  for (const at of [200, 210]) seen.endRound(at, 15);
  seen.markPolled('ada');
  assert.deepEqual([seen.since, seen.upTo], [100, 12]);
  seen.markPolled('bo');
  assert.deepEqual([seen.since, seen.upTo], [200, 15]);
});

test('a look that was under way at one rest and is back after the next vouches for the first alone', () => {
  const seen = createCoverage();
  seen.addInbox('ada');
  seen.endRound(100, 1);
  seen.endRound(200, 2); // a look began just before, and does not hold what came at 150
  seen.markPolled('ada');
  assert.deepEqual([seen.since, seen.upTo], [100, 1]);
});

test('an inbox that fails, or that joined and was not looked at yet, covers nothing', () => {
  const seen = createCoverage();
  seen.addInbox('ada');
  seen.setCursor('ada', 1);
  for (const at of [100, 110]) seen.endRound(at, 1);
  seen.markPolled('ada');
  seen.markFailed('ada');
  assert.deepEqual([seen.since, [...seen.unread]], [null, ['ada']]);
  seen.markPolled('ada');
  assert.equal(seen.since, 100);
  seen.addInbox('new');
  assert.deepEqual([seen.since, seen.floor, [...seen.unread]], [null, null, ['new']]);
  seen.setCursor('new', 0);
  seen.markPolled('new');
  assert.deepEqual([seen.since, seen.floor], [100, 1]);
});

test('what was looked at before anything rested may have been asked before anything was known', () => {
  const seen = createCoverage();
  seen.addInbox('ada');
  seen.markPolled('ada');
  assert.deepEqual([seen.since, seen.upTo], [Number.NEGATIVE_INFINITY, 0]);
});
