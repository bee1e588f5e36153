import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Log } from '../../core/ports/index.ts';
import { raw, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

const warned: string[] = [];
const log: Log = { info: () => {}, warn: (line) => void warned.push(line), error: () => {} };

let rig: StatusRig;
before(async () => {
  rig = await statusRig({ log, tokenEverywhere: true });
});
after(() => rig[Symbol.asyncDispose]());

const codeOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('once') ?? '';
const handIn = (code: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${rig.port}/api/v1/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });

describe('a one-time link', () => {
  test('has its code behind the #, which is sent nowhere, and no token; for one persona it names it', () => {
    const link = new URL(rig.server.onceLink(null));
    assert.equal(link.origin + link.pathname + link.search, `http://127.0.0.1:${rig.port}/`);
    assert.match(link.hash, /^#once=[0-9a-f]{64}$/);
    assert.ok(!rig.server.onceLink(null).includes(TOKEN));
    const hash = new URLSearchParams(new URL(rig.server.onceLink('zoë & 🐝#?')).hash.slice(1));
    assert.equal(hash.get('persona'), 'zoë & 🐝#?');
  });

  test('is good for the token once; the second time the owner is told', async () => {
    const code = codeOf(rig.server.onceLink(null));
    const answer = await handIn(code);
    assert.deepEqual([answer.status, await answer.json()], [200, { token: TOKEN }]);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.deepEqual(warned, []);
    const again = await handIn(code);
    assert.equal(again.status, 403);
    const { error } = (await again.json()) as { error: { message: string; next: string } };
    assert.match(error.message, /used already/);
    assert.match(error.next, /ask for a new link/);
    assert.match(warned.join(), /second time/);
    const status = await fetch(`http://127.0.0.1:${rig.port}/status.json`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    assert.equal(status.status, 200);
  });

  test('that is none is 403 and says to ask for a new one; a body that does not fit is 400', async () => {
    const wrong = await handIn('0'.repeat(64));
    assert.equal(wrong.status, 403);
    assert.match(((await wrong.json()) as { error: { next: string } }).error.next, /ask for a new link/);
    for (const code of [1, null, ['x'], 'x'.repeat(201)]) assert.equal((await handIn(code)).status, 400);
    const more = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"code":"x","token":"y"}' };
    assert.equal((await fetch(`http://127.0.0.1:${rig.port}/api/v1/token`, more)).status, 400);
  });

  test('is handed in by the page itself only: no other Origin, no simple POST, no GET', async () => {
    const code = codeOf(rig.server.onceLink(null));
    for (const headers of [
      { Origin: 'http://evil.example.com' },
      { Origin: 'null' },
      { Origin: `http://localhost:${rig.port}` },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ] as Record<string, string>[])
      assert.equal((await handIn(code, headers)).status, 403, JSON.stringify(headers));
    assert.equal((await handIn(code, { 'Content-Type': 'text/plain' })).status, 415);
    const get = `GET /api/v1/token?code=${code} HTTP/1.0\r\nHost: 127.0.0.1:${rig.port}\r\n\r\n`;
    assert.equal((await raw(rig.port, get)).status, 401, 'there is no such route');
    const good = await handIn(code, { Origin: `http://127.0.0.1:${rig.port}`, 'Sec-Fetch-Site': 'same-origin' });
    assert.equal(good.status, 200, 'and none of these used it up');
  });

  test('can not be guessed on and on: 429 with when to come back', async () => {
    await using other = await statusRig();
    const ask = () =>
      fetch(`http://127.0.0.1:${other.port}/api/v1/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"code":"guess"}',
      });
    const answers = [];
    for (let i = 0; i < 12; i += 1) answers.push(await ask());
    assert.deepEqual(
      answers.map(({ status }) => status),
      [...Array(10).fill(403), 429, 429],
    );
    assert.match(answers.at(-1)?.headers.get('retry-after') ?? '', /^[1-6]$/);
  });
});
