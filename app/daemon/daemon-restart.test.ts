import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DaemonExit, decideRestart } from './daemon-restart.ts';

const CRASH: DaemonExit = { is: 'signal', signal: 'SIGSEGV' };

describe('a daemon that ended is started again (persona daemon, contract 5)', () => {
  test('after 1, 2, 4, 8, 16 and from then on 30 seconds', () => {
    const waits: number[] = [];
    for (let failures = 0; failures < 8; ) {
      const next = decideRestart(CRASH, 10, failures, 0.5);
      assert.equal(next.is, 'again');
      if (next.is !== 'again') return;
      waits.push(next.ms);
      failures = next.failures;
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  test('a fifth sooner or later, so that many are not started at once', () => {
    assert.deepEqual(decideRestart(CRASH, 0, 0, 0), { is: 'again', ms: 800, failures: 1 });
    assert.deepEqual(decideRestart(CRASH, 0, 5, 1), { is: 'again', ms: 36_000, failures: 6 });
  });

  test('from the foot of the ladder once it has lived for a minute', () => {
    assert.deepEqual(decideRestart(CRASH, 59_999, 4, 0.5), { is: 'again', ms: 16_000, failures: 5 });
    assert.deepEqual(decideRestart(CRASH, 60_000, 4, 0.5), { is: 'again', ms: 1000, failures: 1 });
  });

  test('not when it ended well, nor for a configuration that would be wrong again; 75 and all else are tried again', () => {
    for (const [code, is] of [
      [0, 'rest'],
      [78, 'rest'],
      [75, 'again'],
      [1, 'again'],
      [2, 'again'],
    ] as const)
      assert.equal(decideRestart({ is: 'code', code }, 0, 0, 0.5).is, is, String(code));
    assert.equal(decideRestart({ is: 'unknown' }, 0, 0, 0.5).is, 'again');
    assert.equal(decideRestart({ is: 'not-started', why: 'EAGAIN' }, 0, 0, 0.5).is, 'again');
  });
});
