import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearest } from './nearest.ts';

const NAMES = ['run', 'watch', 'status', 'poll', 'send', 'inbox'];

test('a slip of the finger finds the command that was meant', () => {
  const meant = { statsu: 'status', Status: 'status', pol: 'poll', wacth: 'watch', sned: 'send', inboxs: 'inbox' };
  for (const [typed, name] of Object.entries(meant)) assert.equal(findNearest(typed, NAMES), name, typed);
});

test('a word that is near to nothing finds nothing', () => {
  for (const typed of ['frobnicate', '', 'xyz', 'a'.repeat(100_000)]) assert.equal(findNearest(typed, NAMES), null);
});
