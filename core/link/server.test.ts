import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { linkIn, notingHandlers, placesIn, STATUS, wireTo } from '../../test/kit/daemon-link.ts';
import { needs } from '../../test/kit/require.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { until } from '../../test/kit/until.ts';
import { Fault } from '../model/index.ts';
import { askDaemon } from './index.ts';
import { LONGEST_LINE } from './lines.ts';

const isPosix = process.platform === 'win32' ? 'named pipes have other names and rights' : null;
const readToken = (home: string): string => fs.readFileSync(placesIn(home).token, 'utf8').trim();
const line = (token: string, more: object): string => `${JSON.stringify({ v: 1, token, ...more })}\n`;
const mode = (path: string): string => (fs.lstatSync(path).mode & 0o777).toString(8);
const NOTIFY = { verb: 'notify_surface', boundary: { kind: 'Stop', session: 's', turn: 't' } };

describe('the control socket of a daemon', () => {
  test('is 0600 in a directory 0700 whatever the mask, beside a lock and a token of the same kind', async (t) => {
    if (needs(t, isPosix)) return;
    using at = scratch();
    const before = process.umask(0);
    try {
      const places = placesIn(at.dir);
      await using _ = await linkIn(at.dir, notingHandlers().handlers);
      assert.equal(process.umask(), 0);
      assert.equal(fs.lstatSync(places.socket).isSocket(), true);
      const files = [places.socket, places.token, `${places.locked}.lock`];
      assert.deepEqual([places.runtime, ...files].map(mode), ['700', '600', '600', '600']);
      assert.match(readToken(at.dir), /^[0-9a-f]{64}$/);
    } finally {
      process.umask(before);
    }
  });

  test('answers the four verbs, each with its own, on one connection', async () => {
    using at = scratch();
    const { handlers, calls } = notingHandlers();
    await using link = await linkIn(at.dir, handlers);
    using wire = wireTo(link.places.socket);
    const token = readToken(at.dir);
    wire.say(line(token, { verb: 'status' }));
    wire.say(line(token, NOTIFY) + line(token, { verb: 'resume_surface' }));
    const shutdown = line(token, { verb: 'shutdown', reason: 'wrap', deadline_ms: 700 });
    wire.say(shutdown.slice(0, 20));
    assert.equal((await wire.lines(3)).length, 3);
    wire.say(shutdown.slice(20)); // a line that came in two pieces
    assert.deepEqual(await wire.lines(4), [
      { ok: true, ...STATUS },
      { ok: true, emitted: true, why: 'rung' },
      { ok: true },
      { ok: true },
    ]);
    const notified = `notify ${JSON.stringify(NOTIFY.boundary)}`;
    await until('the shutdown', () => calls.length === 4);
    assert.deepEqual(calls.toSorted(), [notified, 'read true', 'resume', 'shutdown wrap 700'].toSorted());
  });

  test('keeps the connection for an unknown verb and for a request that is not whole, and says nothing of it back', async () => {
    using at = scratch();
    const { handlers, calls } = notingHandlers();
    await using link = await linkIn(at.dir, handlers);
    using wire = wireTo(link.places.socket);
    const token = readToken(at.dir);
    wire.say(line(token, { verb: 'drain_surface' }));
    wire.say(line(token, { verb: 'toString' }));
    wire.say(line(token, {}));
    wire.say(line(token, { verb: 'notify_surface', boundary: { kind: 'PostToolUse', session: 's', turn: null } }));
    wire.say(line(token, { verb: 'notify_surface', boundary: { kind: 'Stop', session: 7 } }));
    wire.say(line(token, { verb: 'shutdown', deadline_ms: 5001 }));
    wire.say(line(token, { verb: 'status', v: 2 }));
    wire.say(line(token, { verb: 'resume_surface' }));
    const answers = await wire.lines(8);
    assert.deepEqual(
      answers.map(({ ok, error }) => error ?? ok),
      [...Array<string>(3).fill('unknown_verb'), ...Array<string>(4).fill('bad_request'), true],
    );
    assert.doesNotMatch(wire.text(), /drain_surface|toString|PostToolUse|5001/);
    assert.deepEqual(calls, ['resume']);
  });

  const strangers: readonly (readonly [string, (token: string) => string | Uint8Array])[] = [
    ['a wrong token', (token) => line(`${token.slice(1)}0`, { verb: 'shutdown' })],
    ['a token of another length', () => line('', { verb: 'shutdown' })],
    ['no token', () => `${JSON.stringify({ v: 1, verb: 'shutdown' })}\n`],
    ['a token that is no text', (token) => `${JSON.stringify({ v: 1, token: [token], verb: 'shutdown' })}\n`],
    ['what is no JSON', (token) => `shutdown ${token}\n`],
    ['JSON that is no object', (token) => `${JSON.stringify(token)}\n`],
    ['bytes that are no text', () => Uint8Array.of(0xff, 0xfe, 0x00, 0x0a)],
    ['a line over 16 KiB', (token) => line(token, { verb: 'shutdown', pad: 'x'.repeat(LONGEST_LINE) })],
    ['16 KiB without an end', () => 'x'.repeat(LONGEST_LINE + 1)],
  ];
  for (const [label, fields] of strangers) {
    test(`is closed on ${label}, without a byte when it is the first thing said`, async () => {
      using at = scratch();
      const { handlers, calls } = notingHandlers();
      await using link = await linkIn(at.dir, handlers);
      const token = readToken(at.dir);
      using first = wireTo(link.places.socket);
      first.say(fields(token));
      await first.over();
      assert.equal(first.text(), '');
      assert.deepEqual(calls, ['ipc_auth_failed']);

      using known = wireTo(link.places.socket);
      known.say(line(token, { verb: 'resume_surface' }));
      await known.lines(1);
      // Who has shown the token may leave it out; a wrong one is none.
      const isNothing = label === 'no token';
      known.say(isNothing ? line('x', { verb: 'shutdown' }) : fields(token));
      await known.over();
      assert.deepEqual(
        (await known.lines(2)).map(({ ok, error }) => error ?? ok),
        [true, 'ipc_auth_failed'],
      );
      assert.deepEqual(calls, ['ipc_auth_failed', 'resume', 'ipc_auth_failed']);
      assert.equal((await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 })).is, 'answered');
    });
  }

  test('takes a line of exactly 16 KiB', async () => {
    using at = scratch();
    await using link = await linkIn(at.dir, notingHandlers().handlers);
    using wire = wireTo(link.places.socket);
    const bare = line(readToken(at.dir), { verb: 'status', pad: '' }).length - 1;
    wire.say(line(readToken(at.dir), { verb: 'status', pad: 'x'.repeat(LONGEST_LINE - bare) }));
    assert.equal((await wire.lines(1))[0]?.ok, true);
  });

  test('sends away who says nothing, while others are answered', async () => {
    using at = scratch();
    await using link = await linkIn(at.dir, notingHandlers().handlers);
    using silent = wireTo(link.places.socket);
    silent.say('{"v":1,');
    assert.equal((await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 })).is, 'answered');
    await silent.over();
    assert.equal(silent.text(), '');
  });

  test('is not held up by one who never reads, and reads no more of him', async () => {
    using at = scratch();
    let asked = 0;
    const big = { ...STATUS, metrics: 'x'.repeat(256 * 1024) };
    const { handlers } = notingHandlers({
      status: () => {
        asked += 1;
        return big;
      },
    });
    await using link = await linkIn(at.dir, handlers);
    using wire = wireTo(link.places.socket, 'deaf');
    wire.say(line(readToken(at.dir), { verb: 'status' }).repeat(2000));
    await until('the first answers', () => asked > 0);
    for (let i = 0; i < 5; i += 1) {
      assert.equal((await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 })).is, 'answered');
    }
    assert.ok(asked < 100, `${asked} answers were made for nobody`);
  });

  test('opens no more than 64 connections at once', async () => {
    using at = scratch();
    await using link = await linkIn(at.dir, notingHandlers().handlers);
    const wires = Array.from({ length: 80 }, () => wireTo(link.places.socket));
    try {
      const token = readToken(at.dir);
      for (const wire of wires) wire.say(line(token, { verb: 'resume_surface' }));
      await until('an answer or an end for each', () => wires.every((wire) => wire.text() !== '' || wire.isOver()));
      assert.equal(wires.filter((wire) => wire.text() !== '').length, 64);
    } finally {
      for (const wire of wires) wire[Symbol.dispose]();
    }
  });

  test('a surface that cannot be bound is a refusal, and what the plugin said stays inside', async () => {
    using at = scratch();
    const resume = async (): Promise<void> => {
      throw new Error('secret words');
    };
    await using link = await linkIn(at.dir, notingHandlers({ resume }).handlers);
    const asked = await askDaemon(link.places, { verb: 'resume_surface' }, { timeoutMs: 10_000 });
    assert.ok(asked.is === 'refused' && asked.error === 'surface_unavailable');
    assert.doesNotMatch(asked.message, /secret/);
  });
});

describe('one daemon of a name', () => {
  test('persona daemon check 2: a second one finds the lock held, and the first is not disturbed', async () => {
    using at = scratch();
    await using link = await linkIn(at.dir, notingHandlers().handlers);
    const token = readToken(at.dir);
    const second = linkIn(at.dir, notingHandlers().handlers);
    await assert.rejects(second, (error) => error instanceof Fault && error.code === 'daemon-runs');
    assert.equal(readToken(at.dir), token);
    assert.equal((await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 })).is, 'answered');
    await using _ = await linkIn(at.dir, notingHandlers().handlers, 'eve');
  });

  test('what a killed one left is no hindrance, and its token is no longer good', async (t) => {
    if (needs(t, isPosix)) return;
    using at = scratch();
    const places = placesIn(at.dir);
    const kit = JSON.stringify(import.meta.resolve('../../test/kit/daemon-link.ts'));
    const script = `const { linkIn, notingHandlers } = await import(${kit});
      await linkIn(${JSON.stringify(at.dir)}, notingHandlers().handlers);
      console.log('open');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const old = readToken(at.dir);
    child.kill('SIGKILL');
    await once(child, 'close');
    assert.equal(fs.lstatSync(places.socket).isSocket(), true);
    assert.deepEqual(await askDaemon(places, { verb: 'status' }, { timeoutMs: 10_000 }), { is: 'not-running' });

    await using link = await linkIn(at.dir, notingHandlers().handlers);
    assert.equal((await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 })).is, 'answered');
    using wire = wireTo(places.socket);
    wire.say(line(old, { verb: 'status' }));
    await wire.over();
    assert.equal(wire.text(), '');
  });

  test('when it is closed, its connections, its socket and its token are gone, and the next may come', async () => {
    using at = scratch();
    const places = placesIn(at.dir);
    const link = await linkIn(at.dir, notingHandlers().handlers);
    using wire = wireTo(places.socket);
    wire.say(line(readToken(at.dir), { verb: 'resume_surface' }));
    await wire.lines(1);
    await link[Symbol.asyncDispose]();
    await wire.over();
    assert.deepEqual(fs.readdirSync(places.runtime), []);
    await using _ = await linkIn(at.dir, notingHandlers().handlers);
  });

  test('a path over 103 bytes is refused with its length, and nothing is made', async (t) => {
    if (needs(t, isPosix)) return;
    using at = scratch();
    const deep = (extra: number): string => join(at.dir, 'x'.repeat(extra));
    const bare = Buffer.byteLength(placesIn(deep(1)).socket) - 1;
    const home = deep(104 - bare);
    assert.equal(Buffer.byteLength(placesIn(home).socket), 104);
    await assert.rejects(linkIn(home, notingHandlers().handlers), (error) => {
      assert.ok(error instanceof Fault && error.code === 'daemon-socket');
      assert.match(error.message, /ctl\.sock: the path has 104 bytes, but a socket path can have at most 103/);
      return true;
    });
    assert.equal(fs.existsSync(home), false);
    const longest = deep(103 - bare);
    await using link = await linkIn(longest, notingHandlers().handlers);
    assert.equal((await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 })).is, 'answered');
  });

  test('a socket that cannot be bound lets go of the lock', async (t) => {
    if (needs(t, isPosix)) return;
    using at = scratch();
    const places = placesIn(at.dir);
    fs.mkdirSync(places.socket, { recursive: true, mode: 0o700 });
    const failed = linkIn(at.dir, notingHandlers().handlers);
    await assert.rejects(failed, (error) => error instanceof Fault && error.code === 'daemon-socket');
    fs.rmdirSync(places.socket);
    await using _ = await linkIn(at.dir, notingHandlers().handlers);
  });
});

describe('whether an answer was read', () => {
  test('it was when the other end hangs up with nothing left', async () => {
    using at = scratch();
    const { handlers, calls } = notingHandlers();
    await using link = await linkIn(at.dir, handlers);
    const request = { verb: 'notify_surface', boundary: { kind: 'Stop', session: 's', turn: null } } as const;
    const asked = await askDaemon(link.places, request, { timeoutMs: 10_000 });
    assert.deepEqual(asked, { is: 'answered', answer: { emitted: true, why: 'rung' } });
    await until('what became of it', () => calls.length === 2);
    assert.equal(calls[1], 'read true');
  });

  test('it was not when the other end is gone before it, or with it unread', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'only Linux resets a socket that is closed with bytes unread'))
      return;
    for (const when of ['before', 'unread'] as const) {
      using at = scratch();
      const gone = Promise.withResolvers<void>();
      const calls: string[] = [];
      const { handlers } = notingHandlers({
        async notify(_, isRead) {
          calls.push('asked');
          void isRead.then((read) => calls.push(`read ${read}`));
          if (when === 'before') await gone.promise;
          return { emitted: true, why: 'rung' };
        },
      });
      await using link = await linkIn(at.dir, handlers);
      const wire = wireTo(link.places.socket, 'deaf');
      wire.say(line(readToken(at.dir), NOTIFY));
      await until('the request', () => calls.includes('asked'));
      if (when === 'before') {
        wire[Symbol.dispose]();
        await wire.over();
        gone.resolve();
      } else {
        await askDaemon(link.places, { verb: 'status' }, { timeoutMs: 10_000 });
        wire[Symbol.dispose]();
      }
      await until('what became of it', () => calls.length === 2);
      assert.equal(calls[1], 'read false', when);
    }
  });
});

describe('asking a daemon', () => {
  test('nobody there, and somebody who says something else, are told apart', async () => {
    using at = scratch();
    const places = placesIn(at.dir);
    const ask = (timeoutMs = 10_000) => askDaemon(places, { verb: 'status' }, { timeoutMs });
    assert.deepEqual(await ask(), { is: 'not-running' });
    fs.mkdirSync(places.runtime, { recursive: true, mode: 0o700 });
    fs.writeFileSync(places.token, 'a\n');
    assert.deepEqual(await ask(), { is: 'not-running' });
    const cases: readonly (readonly [string | null, object, number?])[] = [
      [null, { is: 'silent' }, 50],
      ['', { is: 'refused', error: null, message: 'it closed the connection without an answer' }],
      ['half', { is: 'refused', error: null, message: 'it closed the connection without an answer' }],
      ['no JSON\n', { is: 'bad-answer' }],
      ['{"ok":true}\n', { is: 'bad-answer' }],
      [`${JSON.stringify({ ok: true, ...STATUS, fsm: 'IDLE' })}\n`, { is: 'bad-answer' }],
      ['{"ok":false,"error":"nonsense","message":""}\n', { is: 'bad-answer' }],
      ['{"ok":false,"error":"unknown_verb","message":"no"}\n', { is: 'refused', error: 'unknown_verb', message: 'no' }],
      ['x'.repeat(1024 * 1024 + 1), { is: 'bad-answer' }],
    ];
    for (const [fields, wanted, ms] of cases) {
      const server = createServer((peer) => {
        peer.on('error', () => {}); // the one who asks has had enough
        peer.once('data', () => (fields === null ? peer.resume() : peer.end(fields)));
      });
      server.listen(places.socket);
      await once(server, 'listening');
      assert.deepEqual(await ask(ms), wanted, String(fields).slice(0, 40));
      server.close();
      await once(server, 'close');
    }
  });

  test('one that dies while it is asked does not run, and refused nothing', async () => {
    using at = scratch();
    const places = placesIn(at.dir);
    fs.mkdirSync(places.runtime, { recursive: true, mode: 0o700 });
    fs.writeFileSync(places.token, 'a\n');
    const server = createServer((peer) => {
      server.close();
      peer.once('data', () => peer.destroy());
    });
    server.listen(places.socket);
    await once(server, 'listening');
    assert.deepEqual(await askDaemon(places, { verb: 'status' }, { timeoutMs: 10_000 }), { is: 'not-running' });
  });

  test('a stop ends it', async () => {
    using at = scratch();
    const { handlers } = notingHandlers({ notify: () => new Promise(() => {}) });
    await using link = await linkIn(at.dir, handlers);
    const request = { verb: 'notify_surface', boundary: null } as const;
    const signal = AbortSignal.timeout(20);
    assert.deepEqual(await askDaemon(link.places, request, { timeoutMs: 60_000, signal }), { is: 'silent' });
    assert.deepEqual(await askDaemon(link.places, request, { timeoutMs: 60_000, signal }), { is: 'silent' });
  });
});
