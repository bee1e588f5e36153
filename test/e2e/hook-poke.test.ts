import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hookMachine } from '../kit/hook-call.ts';

const ENTRY = fileURLToPath(import.meta.resolve('../../app/cli/hook.node.ts'));

test('a tray process that is busy hears of what a hook told when it comes to it, long after the hook has ended', {
  timeout: 120_000,
}, async () => {
  using m = hookMachine();
  const pushed = await m.hivebar(['inbox', 'push', '--to', 'ada', '--type', 'event', 'hello']);
  assert.equal(pushed.code, 0, pushed.stderr);
  const server = createServer();
  const heard = new Promise<readonly [IncomingMessage, string]>((resolve) => {
    server.on('request', (request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => resolve([request, body]));
      response.end('{}');
    });
  });
  mkdirSync(join(m.home.dir, 'run'), { recursive: true, mode: 0o700 });
  await new Promise<void>((resolve) => server.listen(join(m.home.dir, 'run', 'hivebar.sock'), resolve));
  try {
    // Nothing runs here meanwhile, so the server accepts nothing until the hook is over.
    const input = JSON.stringify({ session_id: 's1', hook_event_name: 'UserPromptSubmit', cwd: m.cwd });
    const args = [ENTRY, 'hook', '--harness', 'claude', '--event', 'UserPromptSubmit', '--persona', 'ada'];
    const env = { ...process.env, HIVEBAR_HOME: m.home.dir };
    const ran = spawnSync(process.execPath, args, { encoding: 'utf8', env, input });
    assert.deepEqual([ran.status, ran.stderr], [0, '']);
    assert.match(ran.stdout, /hello/);
    const [{ method, url }, body] = await heard;
    assert.deepEqual([method, url, body], ['POST', '/api/v1/actions/hive-changed', '{}']);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
