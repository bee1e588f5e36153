import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Log } from '../../core/ports/index.ts';
import { needs } from '../../test/kit/require.ts';
import { raw, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

const warned: string[] = [];
const log: Log = { info: () => {}, warn: (line) => void warned.push(line), error: () => {} };

let rig: StatusRig;
before(async () => {
  rig = await statusRig({ log, tokenEverywhere: true });
});
after(() => rig[Symbol.asyncDispose]());

const parseCode = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('once') ?? '';
const handIn = (code: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${rig.port}/api/v1/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });

describe('a one-time link', () => {
  test('has its code behind the #, which is sent nowhere, and no token; for one persona it names it', () => {
    const link = new URL(rig.server.createOnceLink(null));
    assert.equal(link.origin + link.pathname + link.search, `http://127.0.0.1:${rig.port}/`);
    assert.match(link.hash, /^#once=[0-9a-f]{64}$/);
    assert.ok(!rig.server.createOnceLink(null).includes(TOKEN));
    const hash = new URLSearchParams(new URL(rig.server.createOnceLink('zoë & 🐝#?')).hash.slice(1));
    assert.equal(hash.get('persona'), 'zoë & 🐝#?');
  });

  test('is good for a device key once; the second time the owner is told', async () => {
    const code = parseCode(rig.server.createOnceLink(null));
    const answer = await handIn(code);
    const { token, device } = (await answer.json()) as { token: string; device: string };
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.deepEqual([answer.status, rig.devices.list().map(({ id }) => id)], [200, [device]]);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.deepEqual(warned, []);
    const again = await handIn(code);
    assert.equal(again.status, 403);
    const { error } = (await again.json()) as { error: { message: string; next: string } };
    assert.match(error.message, /already been used/);
    assert.match(error.next, /ask for a new link/);
    assert.match(warned.join(), /second time/);
    const status = await fetch(`http://127.0.0.1:${rig.port}/status.json`, {
      headers: { Authorization: `Bearer ${token}` },
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
    const code = parseCode(rig.server.createOnceLink(null));
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

  test('B3 given a flood of wrong codes, a good one works at once, and the log has one line of the wrong ones', async () => {
    const lines: string[] = [];
    await using other = await statusRig({ log: { ...log, warn: (line) => void lines.push(line) } });
    const ask = (code: string) =>
      fetch(`http://127.0.0.1:${other.port}/api/v1/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    const code = parseCode(other.server.createOnceLink(null));
    for (let i = 0; i < 50; i += 1) assert.equal((await ask(`guess ${i}`)).status, 403);
    const answer = await ask(code);
    assert.equal(answer.status, 200);
    assert.equal(lines.filter((line) => /code was wrong/.test(line)).length, 1, lines.join('\n'));
  });

  test('B1 given a good code, another user of the machine is refused and uses nothing up', async (t) => {
    if (
      needs(t, process.getuid?.() === 0 ? null : 'only root can run a process of another user: run the tests as root')
    )
      return;
    const code = parseCode(rig.server.createOnceLink(null));
    const known = rig.devices.list().length;
    for (const host of ['127.0.0.1', '::1']) {
      const stolen = await handInAs(65_534, host, code);
      assert.match(stolen, /^403 .*"another-user".*next.*log in as the user who runs Hivebar/s, host);
      assert.deepEqual(rig.devices.list().length, known, 'no device was made');
    }
    assert.match(await handInAs(0, '::1', code), /^200 /, 'and its owner is not');
  });
});

/** Hands in a code as a process of this user; the status and the body. */
async function handInAs(uid: number, host: string, code: string): Promise<string> {
  const at = `http://${host.includes(':') ? `[${host}]` : host}:${rig.port}/api/v1/token`;
  const script = `fetch('${at}', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code: '${code}' }),
  }).then(async (answer) => console.log(answer.status, await answer.text()))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { uid, gid: uid, cwd: '/' });
  return stdout;
}
