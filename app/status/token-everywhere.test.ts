import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { asks } from '../../test/kit/decisions.ts';
import { raw, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

/** What answers without the token all the same, since it tells nothing that is watched. */
const TELLS_NOTHING =
  /^(GET|HEAD) (\/|\/healthz|\/readyz|\/openapi\.json|\/assets\/[\w-]+(\.node)?\.\w+)$|^POST \/api\/v1\/token$/;

const BODIES: Readonly<Record<string, string>> = {
  '/api/send': '{"to":"zoe","from":"bo","content":"x"}',
  '/api/v1/permissions':
    '{"harness":"claude","session":"s","persona":null,"subagent":false,"cwd":null,"tool":"Bash","text":"ls","cut":0}',
  '/api/v1/token': '{"code":"none"}',
  '/api/v1/settings': '{"set":{"key":"sound","value":true}}',
  '/api/v1/devices/revoke': '{"all":true}',
  '/v1/signals': '{"to":"zoe","from":"bo","body":"x"}',
  '/v1/signals/pending/drain': '{"address":"zoe"}',
  '/api/v1/items': '{"to":"zoe","content":"x"}',
  '/api/v1/items/drain': '{"persona":"zoe"}',
  '/api/v1/decisions': '{"persona":"zoe","prompt":"Which?","freeText":true}',
};
const SERVED: Readonly<Record<string, number>> = {
  'POST /api/v1/token': 403,
  'POST /v1/signals': 202,
  'GET /mcp': 405,
  'POST /mcp': 403, // it is off
};
/** What the owner gets: a code that is none is refused to everybody. */
const served = (route: string): number => SERVED[route] ?? 200;
/** Hooks ask here, over the socket: nobody else does, whatever token they have. */
const FOR_HOOKS = 'POST /api/v1/permissions';

let rig: StatusRig;
before(async () => {
  rig = await statusRig({ tokenEverywhere: true });
  rig.join('zoe');
  rig.poll('zoe', 2, 1);
  await rig.mail('zoe', 1);
  await rig.hive.send({ to: 'zoe', from: 'bo', content: 'SECRET-TEXT', urgent: false });
  rig.decisions.create(asks());
});
after(() => rig[Symbol.asyncDispose]());

/** Every route of the router with a request that it would serve. */
function requests(): { readonly route: string; readonly bytes: (host: string, ...headers: string[]) => string }[] {
  const targets: Readonly<Record<string, string>> = {
    '/api/brainclaw/:id': '/api/brainclaw/bc-lab',
    '/api/inbox': '/api/inbox?persona=zoe&mark_read=false',
    '/api/v1/actions/:name': '/api/v1/actions/echo',
    '/api/v1/decisions/:id': '/api/v1/decisions/1',
    '/api/v1/decisions/:id/cancel': '/api/v1/decisions/1/cancel',
    '/api/v1/personas/:id': '/api/v1/personas/zoe',
    '/api/v1/personas/:id/events': '/api/v1/personas/zoe/events',
    '/api/v1/personas/:id/messages': '/api/v1/personas/zoe/messages',
    '/api/v1/personas/:id/history': '/api/v1/personas/zoe/history',
    '/api/v1/search': '/api/v1/search?q=secret',
    '/api/v1/personas/:id/uptime': '/api/v1/personas/zoe/uptime',
    '/api/v1/personas/:id/badge.svg': '/api/v1/personas/zoe/badge.svg',
    '/v1/signals/pending': '/v1/signals/pending?address=zoe',
  };
  return rig.server.routes.map((route) => {
    const [method = '', path = ''] = route.split(' ');
    const body = BODIES[path] ?? '{}';
    const type = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const bytes = (host: string, ...headers: string[]): string => {
      const lines = [`${method} ${targets[path] ?? path} HTTP/1.1`, `Host: ${host}`, ...headers, 'Connection: close'];
      if (method !== 'POST') return `${lines.join('\r\n')}\r\n\r\n`;
      return `${[...lines, ...type].join('\r\n')}\r\n\r\n${body}`;
    };
    return { route, bytes };
  });
}

const bearer = `Authorization: Bearer ${TOKEN}`;

describe('with tokenEverywhere every route of the router', () => {
  test('is known here: one that was added answers for itself in the tests below', () => {
    const { routes } = rig.server;
    for (const route of ['GET /status.json', 'GET /api/v1/stream', 'POST /api/send', 'GET /assets/page.js'])
      assert.ok(routes.includes(route), route);
    assert.deepEqual(
      routes.filter((route) => TELLS_NOTHING.test(route) && !route.includes('/assets/')),
      [
        'GET /',
        'HEAD /',
        'GET /healthz',
        'HEAD /healthz',
        'GET /readyz',
        'HEAD /readyz',
        'GET /openapi.json',
        'HEAD /openapi.json',
        'POST /api/v1/token',
      ],
    );
  });

  test('answers 401 without the token, but for the page, its files and healthz, and shows nothing', async () => {
    for (const { route, bytes } of requests()) {
      const { status, head, body } = await raw(rig.port, bytes(`127.0.0.1:${rig.port}`));
      assert.equal(status, TELLS_NOTHING.test(route) ? served(route) : 401, route);
      if (status === 401) assert.match(head, /www-authenticate: Bearer/i, route);
      if (!route.includes('/assets/')) assert.doesNotMatch(body, /\bzoe\b|SECRET|0\.0\.0-test|cafe/, route);
    }
  });

  test('answers 401 to a wrong token, and 200 to the right one', async () => {
    for (const { route, bytes } of requests()) {
      const host = `127.0.0.1:${rig.port}`;
      assert.equal((await raw(rig.port, bytes(host, `${bearer}x`))).status, 401, route);
      const right = route === FOR_HOOKS ? 403 : served(route);
      assert.equal((await raw(rig.port, bytes(host, bearer))).status, right, route);
    }
  });

  test('answers 403 to a foreign Host or Origin, with the token and without', async () => {
    for (const { route, bytes } of requests()) {
      for (const headers of [[], [bearer]]) {
        assert.equal((await raw(rig.port, bytes('evil.example.com', ...headers))).status, 403, route);
        const foreign = bytes(`127.0.0.1:${rig.port}`, 'Origin: http://evil.example.com', ...headers);
        assert.equal((await raw(rig.port, foreign)).status, 403, route);
      }
    }
  });

  test('asks for no token on the owner-only socket', async () => {
    for (const { route, bytes } of requests())
      assert.equal((await raw(rig.socketPath, bytes('localhost'))).status, served(route), route);
  });
});

test('with tokenEverywhere what is not served is 401 too: nobody learns what there is', async () => {
  assert.equal((await fetch(`http://127.0.0.1:${rig.port}/no/such/route`)).status, 401);
});

test('with tokenEverywhere readyz says which of both it is, and to the owner who it is about', async () => {
  await using starting = await statusRig({ tokenEverywhere: true });
  starting.join('zoe');
  const ask = async (headers: Record<string, string>): Promise<string> =>
    (await fetch(`http://127.0.0.1:${starting.port}/readyz`, { headers })).text();
  const closed = await ask({});
  assert.match(closed, /"code":"starting"/);
  assert.doesNotMatch(closed, /zoe/);
  assert.match(await ask({ Authorization: `Bearer ${TOKEN}` }), /zoe/);
});

test('with tokenEverywhere healthz says that it is up, and no more; to the owner it tells who answers', async () => {
  const url = `http://127.0.0.1:${rig.port}/healthz`;
  assert.deepEqual(await (await fetch(url)).json(), { ok: true });
  const reported = (await (await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } })).json()) as object;
  assert.deepEqual(Object.keys(reported), ['ok', 'name', 'version', 'id', 'pid']);
});

test('with tokenEverywhere stream and long-poll go on with the token: text, and an answer when mail comes', async () => {
  const host = `127.0.0.1:${rig.port}`;
  const stream = `GET /api/v1/stream?since=none HTTP/1.1\r\nHost: ${host}\r\n${bearer}\r\n\r\n`;
  assert.match((await raw(rig.port, stream)).body, /event: status\ndata: .*"id":"zoe"/);
  const ask = async (query: string): Promise<{ cursor: string }> => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    return (await (await fetch(`http://${host}/api/notify/pending${query}`, { headers })).json()) as { cursor: string };
  };
  const { cursor } = await ask('');
  const held = ask(`?wait=30&cursor=${cursor}`);
  await rig.hive.send({ to: 'cy', from: 'bo', content: 'x', urgent: false });
  assert.notEqual((await held).cursor, cursor);
});

test('without tokenEverywhere only message text, sending, actions and signals ask for the token', async () => {
  await using open = await statusRig();
  open.join('zoe');
  open.poll('zoe', 0);
  open.decisions.create(asks());
  const closed = open.server.routes.filter((route) =>
    /\/api\/(inbox|send|v1\/actions|v1\/items|v1\/decisions|v1\/newest|v1\/feed|v1\/search|v1\/personas\/[^/]+\/messages|v1\/permissions|v1\/devices|v1\/settings)|^\w+ \/(v1\/|mcp)/.test(
      route,
    ),
  );
  assert.equal(closed.length, 37);
  for (const { route, bytes } of requests()) {
    const { status } = await raw(open.port, bytes(`127.0.0.1:${open.port}`));
    assert.equal(status, closed.includes(route) ? 401 : served(route), route);
  }
});
