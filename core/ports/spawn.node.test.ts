import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { until } from '../../test/kit/until.ts';
import { type ProcessEnd, realSpawn } from './index.ts';

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), 'hivebar-spawn-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const sh = (script: string, more: { input?: string; timeoutMs?: number } = {}, signal = never): Promise<ProcessEnd> =>
  realSpawn.run(
    { file: '/bin/sh', args: ['-c', script], env: { PATH: process.env.PATH ?? '' }, timeoutMs: 30_000, ...more },
    signal,
  );

describe('a program that is run to its end', { skip: process.platform === 'win32' }, () => {
  test('says how it ended, with the end of its stderr, which is where the reason stands', async () => {
    assert.deepEqual(await sh('exit 0'), { is: 'exited', code: 0, stderr: '' });
    const long = await sh(
      'i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; echo the reason >&2; exit 3',
    );
    assert.ok(long.is === 'exited' && long.code === 3);
    assert.ok(long.stderr.endsWith('line 1999\nthe reason\n') && long.stderr.length <= 2000, long.stderr);
    assert.deepEqual(await sh('kill -KILL $$'), { is: 'killed', signal: 'SIGKILL', stderr: '' });
  });

  test('finds its input on stdin, and need not read it', async () => {
    const at = join(folder, 'input');
    assert.equal((await sh(`cat > ${at}`, { input: 'a line\n' })).is, 'exited');
    assert.equal(readFileSync(at, 'utf8'), 'a line\n');
    assert.deepEqual(await sh('exit 0', { input: 'x'.repeat(1_000_000) }), { is: 'exited', code: 0, stderr: '' });
  });

  test('D9: when its time is up, or it is stopped, what it started ends too', async () => {
    for (const how of ['timeout', 'killed'] as const) {
      const at = join(folder, how);
      const stop = new AbortController();
      const running = sh(
        `sleep 300 & echo $! > ${at}; wait`,
        { timeoutMs: how === 'timeout' ? 1000 : 60_000 },
        stop.signal,
      );
      await until('its child', () => existsSync(at) && readFileSync(at, 'utf8').endsWith('\n'));
      if (how === 'killed') stop.abort();
      assert.equal((await running).is, how);
      const pid = Number(readFileSync(at, 'utf8'));
      await until('the end of the child', () => !isAlive(pid));
    }
  });

  test('never rejects: what cannot be started says why, also what cannot be an argument', async () => {
    const none = await realSpawn.run({ file: join(folder, 'none'), args: [], env: {}, timeoutMs: 1000 }, never);
    assert.ok(none.is === 'not-started' && /ENOENT/.test(none.why));
    const nul = await realSpawn.run({ file: '/bin/sh', args: ['a\0b'], env: {}, timeoutMs: 1000 }, never);
    assert.ok(nul.is === 'not-started' && /null bytes/.test(nul.why), JSON.stringify(nul));
    assert.equal((await sh('exit 0', {}, AbortSignal.abort())).is, 'not-started');
  });
});

/** A zombie has ended. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return !/\) Z /.test(stat);
}
