import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Io } from '../../core/command/index.ts';
import { dispatch } from './dispatch.ts';
import { QUICK_COMMANDS } from './quick-commands.ts';
import { askTray } from './tray-request.node.ts';

/** A server on the socket where the tray process would listen. */
async function listening(server: Server) {
  const home = mkdtempSync(join(tmpdir(), 'hivebar-cli-'));
  mkdirSync(join(home, 'run'));
  await new Promise<void>((resolve) => server.listen(join(home, 'run', 'hivebar.sock'), resolve));
  const output = { out: '', err: '' };
  const io: Io = {
    env: { HIVEBAR_HOME: home },
    out: (text) => {
      output.out += text;
    },
    err: (text) => {
      output.err += text;
    },
    input: async () => '',
  };
  return {
    io,
    output,
    home,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const tray = (handler: RequestListener) => listening(createServer(handler));

describe('the commands that ask the running program', () => {
  test('status --json prints what it serves, asked for by its one allowed name', async () => {
    const body = '{"schema":1,"text":"é\u009b"}';
    await using at = await tray((request, response) => {
      const known = request.url === '/status.json' && request.headers.host === 'localhost';
      response.statusCode = known ? 200 : 403;
      response.end(body);
    });
    assert.equal(await dispatch(['status', '--json'], at.io, QUICK_COMMANDS), 0);
    assert.equal(at.output.out, '{"schema":1,"text":"é\\u009b"}\n');
  });

  test('status of a program that speaks another schema is an error, not an empty table', async () => {
    await using at = await tray((_, response) => response.end('{"schema":2}'));
    assert.equal(await dispatch(['status'], at.io, QUICK_COMMANDS), 1);
    assert.match(at.output.err, /another version/);
  });

  test('poll asks for one persona, or for all, as JSON', async () => {
    const asked: unknown[] = [];
    await using at = await tray((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      request.on('end', () => {
        asked.push([request.method, request.url, request.headers['content-type'], JSON.parse(body)]);
        response.end('{}');
      });
    });
    assert.equal(await dispatch(['poll', 'zoë'], at.io, QUICK_COMMANDS), 0);
    assert.equal(await dispatch(['poll'], at.io, QUICK_COMMANDS), 0);
    assert.deepEqual(asked, [
      ['POST', '/api/v1/actions/poll', 'application/json', { persona: 'zoë' }],
      ['POST', '/api/v1/actions/poll', 'application/json', {}],
    ]);
    assert.equal(at.output.out, 'polling zoë\npolling every inbox\n');
  });

  test('a refusal is told with its next step, and ends with 1', async () => {
    await using at = await tray((_, response) => {
      response.statusCode = 404;
      response.end('{"error":{"code":"not-found","message":"no persona bo","next":"see status"}}');
    });
    assert.equal(await dispatch(['poll', 'bo'], at.io, QUICK_COMMANDS), 1);
    assert.equal(at.output.err, 'hivebar refused (404): no persona bo: see status\n');
  });

  test('an answer cut short is a failure, never half a status', async () => {
    const server = createSocketServer((socket) => {
      socket.resume();
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"schema":1}');
    });
    await using at = await listening(server);
    assert.equal(await dispatch(['status', '--json'], at.io, QUICK_COMMANDS), 1);
    assert.equal(at.output.out, '');
    assert.match(at.output.err, /closed the connection before its answer was complete/);
  });

  test('without a running program, or with the socket of a dead one, the person is told to start it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'hivebar-cli-'));
    let err = '';
    const io: Io = {
      env: { HIVEBAR_HOME: home },
      out: () => assert.fail('nothing to print'),
      err: (text) => {
        err += text;
      },
      input: async () => '',
    };
    assert.equal(await dispatch(['status'], io, QUICK_COMMANDS), 1);
    mkdirSync(join(home, 'run'));
    writeFileSync(join(home, 'run', 'hivebar.sock'), ''); // refuses, as a socket nobody listens on
    assert.equal(await dispatch(['poll'], io, QUICK_COMMANDS), 1);
    assert.equal(err, 'hivebar is not running: start it with `hivebar`\n'.repeat(2));
    rmSync(home, { recursive: true });
  });

  test('a command line that does not parse ends with 2', async () => {
    const io: Io = { env: {}, out: () => {}, err: () => {}, input: async () => '' };
    for (const args of [
      ['status', '--yaml'],
      ['status', 'ada', 'bo'],
      ['poll', 'a', 'b'],
      ['poll', '--all'],
    ]) {
      assert.equal(await dispatch(args, io, QUICK_COMMANDS), 2, args.join(' '));
    }
  });
});

test('given a process that stood still, a socket where nobody listens is still found to be none', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hivebar-cli-'));
  try {
    mkdirSync(join(home, 'run'));
    const answer = askTray({ method: 'GET', path: '/', body: null }, { HIVEBAR_HOME: home }, 50);
    for (const end = performance.now() + 200; performance.now() < end; );
    assert.deepEqual(await answer, { is: 'not-running' });
  } finally {
    rmSync(home, { recursive: true });
  }
});
