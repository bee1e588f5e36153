import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { openDatabase } from '../../core/state/index.ts';
import { FLOCK_HOLDER, NO_PYTHON } from '../kit/flock-holder.ts';
import { hookMachine } from '../kit/hook-call.ts';
import { needs } from '../kit/require.ts';

const ADA = { persona: 'ada' } as const;
/** One second for all waits of a hook; the rest is for the start of node on a busy machine. */
const IN_TIME_MS = 5000;

test('the queue is locked, the store is locked and stdin is left open: 0 in time, one line, and all of it comes later', async (t) => {
  if (needs(t, NO_PYTHON)) return;
  using m = hookMachine();
  await m.hook('SessionStart', {}, ADA);
  mkdirSync(m.home.at('inject-queue'), { recursive: true, mode: 0o700 });
  const queue = m.home.write('inject-queue/s1.jsonl', '{"type":"event","content":"from the queue"}\n');
  const pushed = await m.hivebar(['inbox', 'push', '--to', 'ada', '--type', 'event', 'from the store']);
  assert.equal(pushed.code, 0, pushed.stderr);
  {
    using locks = await lockedQueue(queue);
    using db = openDatabase(m.home.at('hivebar.sqlite'));
    db.exec('BEGIN IMMEDIATE');
    for (const event of ['UserPromptSubmit', 'SessionStart']) {
      const { code, stdout, stderr, ms } = await m.hook(event, {}, { ...ADA, opens: true });
      assert.deepEqual([code, stdout], [0, ''], stderr);
      assert.match(stderr, /^hivebar hook: .*database is locked.*\n$/);
      assert.ok(ms < IN_TIME_MS, `${ms} ms`);
    }
    db.exec('ROLLBACK');
    // The queue alone: what is in the store is told all the same.
    const { stdout, stderr } = await m.hook('UserPromptSubmit', {}, { ...ADA, opens: true });
    assert.match(stdout, /from the store/);
    assert.match(stderr, /^hivebar hook: queue files could not be read, the next hook tries again: .*\n$/);
    assert.equal(locks.isHeld, true);
  }
  const { stdout } = await m.hook('UserPromptSubmit', {}, ADA);
  assert.match(stdout, /from the queue/);
  assert.doesNotMatch(stdout, /from the store/);
});

interface QueueLock extends Disposable {
  readonly isHeld: boolean;
}

/** Another process has both the queue and the copy beside it. */
async function lockedQueue(path: string): Promise<QueueLock> {
  const holders = [path, `${path}.draining`].map((file) => spawn('python3', ['-c', FLOCK_HOLDER, file]));
  for (const { stdout } of holders) assert.match(String((await once(stdout, 'data'))[0]), /^got/);
  return {
    get isHeld() {
      return holders.every(({ exitCode }) => exitCode === null);
    },
    [Symbol.dispose]() {
      for (const holder of holders) holder.kill('SIGKILL');
    },
  };
}
