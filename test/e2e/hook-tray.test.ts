import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { programEntry } from '../kit/program.ts';
import { trayHome } from '../kit/tray-process.ts';

const ENTRY = programEntry('hook');

test('what a hook told is gone from the board soon, though the hook waits for no tray process', async () => {
  using home = trayHome();
  await using tray = await home.start();
  const pushed = await home.run(['inbox', 'push', '--to', 'ada', '--source', 'ci', 'hello']);
  assert.deepEqual([pushed.code, pushed.stderr], [0, '']);
  await tray.persona('ada', ({ pending }) => String(pending) === '0,0,1,0,0');
  const input = JSON.stringify({ session_id: 's1', hook_event_name: 'UserPromptSubmit', cwd: home.home });
  const args = [ENTRY, 'hook', '--harness', 'claude', '--event', 'UserPromptSubmit', '--persona', 'ada'];
  const ran = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, ...home.env }, input });
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
  assert.match(ran.stdout, /hello/);
  await tray.persona('ada', ({ pending }) => String(pending) === '0,0,0,0,0', 4000); // by itself it looks later
});
