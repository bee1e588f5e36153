import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standing } from './reach.ts';

test('failing below the threshold is still UP; only the edge makes it DOWN', () => {
  assert.equal(standing({ is: 'unseen' }), 'PENDING');
  assert.equal(standing({ is: 'up', since: 1 }), 'UP');
  assert.equal(standing({ is: 'failing', failures: 2, why: 'timeout' }), 'UP');
  assert.equal(standing({ is: 'down', since: 1, failures: 3, why: 'timeout' }), 'DOWN');
});
