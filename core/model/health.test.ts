import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHealthLabel } from './health.ts';

test('failing below the threshold is still UP; only the edge makes it DOWN', () => {
  assert.equal(toHealthLabel({ is: 'unseen' }), 'PENDING');
  assert.equal(toHealthLabel({ is: 'up', since: 1 }), 'UP');
  assert.equal(toHealthLabel({ is: 'failing', failures: 2, why: 'timeout' }), 'UP');
  assert.equal(toHealthLabel({ is: 'down', since: 1, failures: 3, why: 'timeout' }), 'DOWN');
});
