import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../test/kit/until.ts';

const body = (rev: number, text = ''): string =>
  JSON.stringify({
    schema: 1,
    rev,
    generatedAt: '2026-06-20T10:00:00.000000+00:00',
    totals: { unread: rev, unreadIs: 'exact', urgent: 0, up: 1, down: 0, personas: 0 },
    personas: [],
    text,
  });

test('status --watch in a pipe: a line for each change, none for what is only seen again, over a restart of the program', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hivebar-watch-'));
  mkdirSync(join(home, 'run'));
  const socket = join(home, 'run', 'hivebar.sock');
  const readers: ServerResponse[] = [];
  const serve = async () => {
    const server = createServer((request, response) => {
      assert.equal(request.url, '/api/v1/stream');
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`retry: 2000\n\nevent: hello\ndata: {"since": null}\n\nevent: status\ndata: ${body(1)}\n\n`);
      readers.push(response);
    });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    return server;
  };
  let server = await serve();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'hivebar.node.ts'), 'status', '--watch', '--json'], {
    env: { ...process.env, HIVEBAR_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    const lines = (): number => out.split('\n').length - 1;
    await until('the first status', () => lines() === 1);
    readers[0]?.write(
      `event: status\ndata: ${body(1, 'seen again')}\n\n: still here\n\nid: a\nevent: event\ndata: {}\n\n`,
    );
    const cut = Buffer.from(`event: status\ndata: ${body(2, 'é')}\n\n`);
    const inside = cut.indexOf(Buffer.from('é')) + 1;
    readers[0]?.write(cut.subarray(0, inside));
    readers[0]?.write(cut.subarray(inside));
    await until('the change', () => lines() === 2);
    assert.equal(JSON.parse(out.split('\n')[1] ?? '').text, 'é');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await until('that it is gone', () => err.includes('waiting for it'));
    server = await serve();
    await until('the status of the next run', () => lines() === 3);
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, err], [0, 'hivebar is not running; waiting for it\n']);
  } finally {
    child.kill('SIGKILL');
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
});
