import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs } from '../../test/kit/require.ts';

test('B9 given a pipe where Claude Code says how a session is, nobody waits for it, and nothing is known', (t) => {
  if (needs(t, process.platform === 'win32' ? 'there are no pipes with names in a folder here' : null)) return;
  const home = mkdtempSync(join(tmpdir(), 'hivebar-claude-'));
  try {
    mkdirSync(join(home, 'sessions'));
    writeFileSync(
      join(home, 'sessions', '7.json'),
      '{"pid": 7, "sessionId": "s1", "kind": "interactive", "status": "idle"}',
    );
    execFileSync('mkfifo', [join(home, 'sessions', '8.json')]);
    // In a process of its own: whoever waits for a pipe hears no time limit.
    const script = `
      import { readHarnessState } from ${JSON.stringify(new URL('./prompts.node.ts', import.meta.url).href)};
      for (const pid of [7, 8, 9]) console.log(readHarnessState(${JSON.stringify(home)}, pid, 's1'));
    `;
    const args = ['--input-type=module', '--eval', script];
    const { stdout, signal } = spawnSync(process.execPath, args, {
      ...{ encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' },
    });
    assert.deepEqual([stdout, signal], ['idle\nunknown\nunknown\n', null]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
