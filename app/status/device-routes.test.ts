import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../test/kit/require.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36';

let rig: StatusRig;
before(async () => {
  rig = await statusRig({ tokenEverywhere: true });
  rig.join('zoe');
  rig.poll('zoe', 2);
});
after(() => rig[Symbol.asyncDispose]());

function ask(path: string, secret: string | null, body?: object): Promise<Response> {
  const authorization: Record<string, string> = secret === null ? {} : { Authorization: `Bearer ${secret}` };
  const headers = { 'User-Agent': CHROME, 'Content-Type': 'application/json', ...authorization };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  return fetch(`http://127.0.0.1:${rig.port}${path}`, init);
}

async function login(secret: string | null = null): Promise<{ token: string; device: string }> {
  const code = new URLSearchParams(new URL(rig.server.createOnceLink(null)).hash.slice(1)).get('once');
  const answer = await ask('/api/v1/token', secret, { code });
  assert.equal(answer.status, 200);
  return (await answer.json()) as { token: string; device: string };
}

const listDevices = async (secret: string): Promise<{ id: string; name: string; isThis: boolean }[]> =>
  ((await (await ask('/api/v1/devices', secret)).json()) as { devices: [] }).devices;

describe('the key of a device', () => {
  test('does what the page does: it reads, acts, and lists devices, of which one is itself', async () => {
    const { token, device } = await login();
    for (const path of ['/status.json', '/api/v1/decisions', '/api/v1/permissions', '/api/inbox?persona=zoe'])
      assert.equal((await ask(path, token)).status, 200, path);
    assert.equal((await ask('/api/v1/actions/echo', token, {})).status, 200);
    const own = (await listDevices(token)).filter(({ isThis }) => isThis);
    assert.deepEqual(
      own.map(({ id, name }) => [id, name]),
      [[device, 'Chrome on Linux']],
    );
    assert.deepEqual(
      (await listDevices(TOKEN)).filter(({ isThis }) => isThis),
      [],
    );
  });

  test('gets nothing that lasts longer than itself: no link, no MCP, no route of daemons', async () => {
    const { token } = await login();
    for (const [path, status] of [
      ['/api/v1/actions/lasting', 403],
      ['/mcp', 403],
      ['/v1/signals', 401],
    ] as const) {
      const answer = await ask(path, token, {});
      assert.equal(answer.status, status, path);
      if (status === 403) assert.match(await answer.text(), /not-for-devices/);
    }
  });

  test('stays with a browser that opens a further link', async () => {
    const first = await login();
    const known = rig.devices.list().length;
    assert.deepEqual(await login(first.token), first);
    assert.equal(rig.devices.list().length, known);
    assert.notEqual((await login(TOKEN)).device, first.device, 'the token of the run is no device');
  });

  test('is 401 everywhere from its revocation on, and its stream and held requests end at once; those of others go on', async () => {
    const [lost, other] = [await login(), await login()];
    const open = async (secret: string) => {
      const { body } = await ask('/api/v1/stream', secret);
      const reader = body?.getReader() ?? assert.fail('no body');
      await reader.read();
      return reader;
    };
    const streams = { lost: await open(lost.token), other: await open(other.token) };
    const { cursor } = (await (await ask('/api/notify/pending', lost.token)).json()) as { cursor: string };
    const held = assert.rejects(ask(`/api/notify/pending?wait=60&cursor=${cursor}`, lost.token));
    const acting = assert.rejects(ask('/api/v1/actions/wait', lost.token, {}));
    await ask('/status.json', lost.token);
    const answer = await ask('/api/v1/devices/revoke', other.token, { id: lost.device });
    assert.deepEqual([answer.status, await answer.json()], [200, { revoked: [lost.device] }]);
    const drain = async (): Promise<void> => {
      while (!(await streams.lost.read()).done);
    };
    await Promise.all([assert.rejects(drain()), held, acting]);
    for (const path of ['/', '/status.json', '/healthz', '/api/v1/stream', '/no/such/route'])
      assert.equal((await ask(path, lost.token)).status, 401, path);
    rig.poll('zoe', 3);
    assert.equal((await streams.other.read()).done, false);
    await streams.other.cancel();
    assert.equal((await ask('/status.json', other.token)).status, 200);
  });

  test('that revokes itself is told so', async () => {
    const { token, device } = await login();
    const answer = await ask('/api/v1/devices/revoke', token, { id: device });
    assert.deepEqual([answer.status, await answer.json()], [200, { revoked: [device] }]);
    assert.equal((await ask('/status.json', token)).status, 401);
  });

  test('from another user of the machine is refused', async (t) => {
    if (
      needs(t, process.getuid?.() === 0 ? null : 'only root can run a process of another user: run the tests as root')
    )
      return;
    const { token } = await login();
    const script = `fetch('http://127.0.0.1:${rig.port}/status.json', { headers: { Authorization: 'Bearer ${token}' } })
      .then(async (answer) => console.log(answer.status, await answer.text()))`;
    for (const [uid, answer] of [
      [65_534, /^403 .*another-user/],
      [0, /^200 /],
    ] as const) {
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { uid, gid: uid, cwd: '/' });
      assert.match(stdout, answer);
    }
  });
});

test('revoke takes one id or all; an unknown id is 404', async () => {
  const { token } = await login();
  for (const body of [{}, { id: 'x', all: true }, { id: 1 }, { all: false }, { id: '' }])
    assert.equal((await ask('/api/v1/devices/revoke', TOKEN, body)).status, 400, JSON.stringify(body));
  const none = await ask('/api/v1/devices/revoke', TOKEN, { id: 'nobody' });
  assert.deepEqual([none.status, /no-device.*hivebar devices/.test(await none.text())], [404, true]);
  assert.equal((await ask('/api/v1/devices/revoke', TOKEN, { all: true })).status, 200);
  assert.deepEqual([rig.devices.list(), (await ask('/status.json', token)).status], [[], 401]);
});
