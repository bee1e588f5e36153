import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const ENTRY = join(import.meta.dirname, 'hivebar.node.ts');

const PIPE = 'set -o pipefail; "$0" "$1" status --json | eval "$2"';

/** More than a pipe takes at once. */
const LONG = 400_000;

for (const [name, chars] of [
  ['short', 100],
  ['long', LONG],
] as const) {
  test(`a ${name} answer arrives whole at a reader that is slow, and a reader that has gone is no failure`, {
    skip: process.platform === 'win32',
  }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'hivebar-quick-'));
    const body = JSON.stringify({ schema: 1, text: 'é'.repeat(chars / 2) });
    const server = createServer((_, response) => {
      response.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
    });
    mkdirSync(join(home, 'run'));
    await new Promise<void>((resolve) => server.listen(join(home, 'run', 'hivebar.sock'), resolve));
    const run = (reader: string) =>
      spawn('bash', ['-c', PIPE, process.execPath, ENTRY, reader], {
        env: { ...process.env, HIVEBAR_HOME: home },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    try {
      const slow = run('(sleep 0.5; cat)');
      let out = '';
      slow.stdout.setEncoding('utf8').on('data', (text) => {
        out += text;
      });
      assert.deepEqual(await once(slow, 'close'), [0, null]);
      assert.equal(out, `${body}\n`);
      const gone = run('true');
      assert.deepEqual(await once(gone, 'close'), [0, null]);
    } finally {
      server.close();
      await sleep(0);
      rmSync(home, { recursive: true, force: true });
    }
  });
}
