import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askTray } from '../../app/cli/tray-request.node.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

/** What the owner waits for at most. */
const WITHIN_MS = 1000;
/** Longer than a silent connection may live, which is 12 s. */
const ATTACK_MS = 16_000;
/** More than the server keeps on the one address, with the streams; a third of that on the other. */
const SILENT = { '127.0.0.1': 1536, '::1': 512 } as const;
const STREAMS = 200;
const CODE_EVERY_MS = 100;

/** Connections that another user of the machine keeps open, and opens again when they are closed. */
class Attack implements Disposable {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #isOver = false;
  /** How long each silent connection lived, in milliseconds. */
  readonly lives: number[] = [];
  wrongCodes = 0;

  constructor(port: number) {
    this.#port = port;
  }

  silent(host: string): void {
    const from = performance.now();
    this.#open(host, '', () => {
      this.lives.push(performance.now() - from);
      this.silent(host);
    });
  }

  stream(): void {
    this.#open('127.0.0.1', `GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\n\r\n`, () =>
      this.stream(),
    );
  }

  async codes(): Promise<void> {
    while (!this.#isOver) {
      const body = JSON.stringify({ code: `${this.wrongCodes}`.padStart(64, '0') });
      const headers = { 'Content-Type': 'application/json' };
      await fetch(`http://127.0.0.1:${this.#port}/api/v1/token`, { method: 'POST', headers, body }).then(
        (answer) => {
          this.wrongCodes += 1;
          return answer.text();
        },
        () => '', // an attacker may be cut
      );
      await sleep(CODE_EVERY_MS);
    }
  }

  #open(host: string, bytes: string, again: () => void): void {
    if (this.#isOver) return;
    // It never closes its side by itself.
    const socket = connect({ port: this.#port, host, allowHalfOpen: true });
    this.#sockets.add(socket);
    socket.on('error', () => {}); // it may be cut
    socket.pause();
    if (bytes !== '') socket.write(bytes);
    // Only reading tells that the far end is gone; a stream is not read, so that it never drains.
    if (bytes === '') socket.resume();
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      this.#sockets.delete(socket);
      setTimeout(again, 5);
    });
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** What the owner does, and how each is done. */
function owner(home: TrayHome, tray: TrayProcess): Readonly<Record<string, () => Promise<unknown>>> {
  const headers = { Authorization: `Bearer ${tray.token}` };
  const good = async (path: string, init: RequestInit = {}): Promise<string> => {
    const answer = await fetch(tray.url + path, init);
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path}: ${text}`);
    return text;
  };
  return {
    'the page': () => good('/'),
    'the JSON': () => good('/status.json'),
    'mail with the token': () => good('/api/inbox?persona=ada&mark_read=false', { headers }),
    'a one-time link': async () => {
      const asked = { method: 'POST', path: '/api/v1/actions/link', body: '{}' } as const;
      const link = await askTray(asked, home.env);
      assert.ok(link.is === 'answered' && link.status === 200, JSON.stringify(link));
      const { url } = (JSON.parse(link.body) as { result: { url: string } }).result;
      const body = JSON.stringify({ code: new URLSearchParams(new URL(url).hash.slice(1)).get('once') });
      const text = await good('/api/v1/token', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      assert.match(text, /^\{"token":"[0-9a-f]{64}","device":"[0-9a-f]{8}"\}$/);
    },
    'a stream with the token': async () => {
      const stop = new AbortController();
      const answer = await fetch(`${tray.url}/api/v1/stream`, { headers, signal: stop.signal });
      assert.equal(answer.status, 200);
      await answer.body?.getReader().read();
      stop.abort();
    },
    'the owner-only socket': async () => {
      const asked = await askTray({ method: 'GET', path: '/status.json', body: null }, home.env);
      assert.ok(asked.is === 'answered' && asked.status === 200);
    },
  };
}

test('B2 B3 B5 given silent connections, idle streams and wrong codes all at once, the owner is served within a second', async () => {
  using home = trayHome();
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await tray.post('/api/send', { to: 'ada', from: 'bo', content: 'hello' });
  const todo = owner(home, tray);
  const status = async (): Promise<number> => {
    const from = performance.now();
    const { code, stdout } = await home.run(['status', '--json']);
    assert.equal(code, 0, stdout);
    return performance.now() - from;
  };
  await status();
  const before = await status(); // most of it is the start of Node, which no attack changes
  for (const act of Object.values(todo)) await act(); // what is loaded at the first time is loaded
  using attack = new Attack(tray.port);
  for (const [host, many] of Object.entries(SILENT)) for (let n = 0; n < many; n += 1) attack.silent(host);
  for (let n = 0; n < STREAMS; n += 1) attack.stream();
  const codes = attack.codes();
  const slowest = new Map<string, number>();
  let rounds = 0;
  for (const end = performance.now() + ATTACK_MS; performance.now() < end; rounds += 1) {
    for (const [label, act] of Object.entries(todo)) {
      const from = performance.now();
      await act();
      slowest.set(label, Math.max(slowest.get(label) ?? 0, performance.now() - from));
    }
    await sleep(100);
  }
  slowest.set('hivebar status --json', (await status()) - before);
  const late = [...slowest].filter(([, took]) => took > WITHIN_MS);
  assert.deepEqual(late, [], `of ${rounds} rounds`);
  assert.ok(attack.wrongCodes > ATTACK_MS / CODE_EVERY_MS / 4, `only ${attack.wrongCodes} wrong codes`);
  assert.ok(
    attack.lives.length >= SILENT['127.0.0.1'] + SILENT['::1'],
    `only ${attack.lives.length} silent connections ended`,
  );
  const longest = Math.max(...attack.lives);
  assert.ok(longest < 12_000, `a silent connection lived ${longest} ms`);
  attack[Symbol.dispose]();
  await codes;
  const log = tray.log.filter((line) => /one-time code/.test(line));
  assert.equal(log.length, 1, log.join('\n'));
});
