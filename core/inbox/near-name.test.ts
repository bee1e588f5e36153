import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearName } from './near-name.ts';

const KNOWN = ['ada', 'bo', 'cyrus', 'worker1', 'worker12'];

test('a name is near when it is one letter or its case away', () => {
  for (const [typed, near] of [
    ['adaa', 'ada'],
    ['da', 'ada'],
    ['adb', 'ada'],
    ['aad', 'ada'],
    ['ADA', 'ada'],
    ['Cyrsu', 'cyrus'],
    ['BO', 'bo'],
    ['workr1', 'worker1'],
  ] as const)
    assert.equal(findNearName(typed, KNOWN), near, typed);
});

test('a known name, a name two letters away, a short one and another number are not near', () => {
  for (const typed of ['ada', 'bo', 'bob', 'adele', 'cyprsu', 'worker2', 'worker', 'worker13', 'zoe'])
    assert.equal(findNearName(typed, KNOWN), null, typed);
});
