import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fakeAgentMail, PROJECT } from '../../../test/kit/fake-agent-mail.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { SourceEnvironment } from '../module.ts';
import { openAmailMemory, parseSaved } from './memory.ts';
import { createCredentials, findAmailPlaces, isServerThere, openServer, resolvePlaces } from './open.ts';
import type { SavedAmail } from './source.ts';

const never = new AbortController().signal;

/** A machine whose server has its environment file in `home`. */
function createHost(home: Scratch, envText: string): SourceEnvironment & { readonly setting: Setting } {
  home.write('server.env', envText);
  return {
    ...{ env: {}, disk: createRealDisk(silentLog), clock: realClock, log: silentLog, version: '0.0.0-test' },
    ...{ reservedIds: [], stop: never, setting: { is: 'auto', envFile: home.at('server.env') } },
  };
}

type Setting = Parameters<typeof resolvePlaces>[0];

test('a mail server is found by its liveness route, and the places say so', async () => {
  using home = scratch();
  await using server = await fakeAgentMail({ token: 'secret' });
  const host = createHost(
    home,
    `HTTP_PORT=${server.port}\nHTTP_BEARER_TOKEN=secret\nSTORAGE_ROOT=${home.at('store')}\n`,
  );
  const isThere = () => isServerThere(resolvePlaces(host.setting, host), host.setting, host, never);
  const list = async () =>
    (await findAmailPlaces({ amail: host.setting }, host)).map(({ where, found }) => [where, found] as const);
  assert.equal(await isThere(), true);
  mkdirSync(home.at('store'));
  const [first, second, third] = await list();
  assert.deepEqual(first, [server.url, 'it answers']);
  assert.deepEqual(
    [second, third],
    [
      [home.at('server.env'), 'there'],
      [home.at('store'), 'there'],
    ],
  );
  await server.refuse();
  assert.equal(await isThere(), false);
  assert.deepEqual((await list())[0], [server.url, null]);
  assert.ok(
    server.requests.every((request) => request === 'GET /health/liveness'),
    'nothing else is asked',
  );
  assert.deepEqual(await findAmailPlaces({ amail: { is: 'off' } }, host), []);
});

test('another program at that port is no mail server, and never gets the token', async () => {
  using home = scratch();
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('{"status":"ok"}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = other.address() as AddressInfo;
    const host = createHost(home, `HTTP_PORT=${port}\nHTTP_BEARER_TOKEN=secret\n`);
    assert.equal(await isServerThere(resolvePlaces(host.setting, host), host.setting, host, never), false);
    assert.deepEqual(seen, [undefined]);
  } finally {
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
  }
});

test('the token is that of the variable, else of the environment file, which is read again after a refusal', async () => {
  using home = scratch();
  await using server = await fakeAgentMail({ token: 'old' });
  server.addAgent('ada');
  const toText = (token: string): string => `HTTP_PORT=${server.port}\nHTTP_BEARER_TOKEN=${token}\n`;
  const host = createHost(home, toText('old'));
  const places = resolvePlaces(host.setting, host);
  const credentials = createCredentials(host.setting, host);
  await using client = openServer(host.setting, places, null, host, credentials);
  assert.deepEqual(await client.listAgents(PROJECT, never), ['ada']);
  server.setToken('new');
  home.write('server.env', toText('new'));
  await new Promise((resolve) => setTimeout(resolve, 1100)); // it is read at most once per second
  assert.deepEqual(await client.listAgents(PROJECT, never), ['ada']);
  assert.equal(credentials.about, `the token in ${JSON.stringify(home.at('server.env'))}`);
  const withVariable = { ...host, env: { HTTP_BEARER_TOKEN: ' own ' } };
  assert.equal(createCredentials(host.setting, withVariable).header()?.value, 'Bearer own');
  const file = home.write('token', 'filed\n');
  assert.equal(createCredentials({ is: 'auto', tokenFile: file }, withVariable).header()?.value, 'Bearer filed');
});

test('what is remembered of a server outlives a process, and what another program wrote there counts as nothing', () => {
  using home = scratch();
  const machine = { ...createHost(home, ''), random: { hex: (bytes: number) => '0'.repeat(2 * bytes) } };
  const saved: SavedAmail = {
    base: 'http://127.0.0.1:8765',
    ledger: { highest: 7, coveredFrom: 3, newest: 1.5, before: { highest: 9, newest: 1 } },
    agents: [{ address: 'p/ada', id: 'amail-ada', bornAfter: 0 }],
  };
  {
    using memory = openAmailMemory(home.dir, machine);
    assert.equal(memory.load(), null);
    memory.save(saved);
  }
  using memory = openAmailMemory(home.dir, machine);
  assert.deepEqual(memory.load(), saved);
  const empty = {
    ...saved,
    ledger: { highest: 0, coveredFrom: Number.POSITIVE_INFINITY, newest: -Infinity, before: null },
  };
  assert.deepEqual(parseSaved(JSON.parse(JSON.stringify(empty))), empty, 'nothing was seen yet');
  for (const text of ['{', '[]', '{"base":1}', '{"base":"x","ledger":{},"agents":[]}', '']) {
    home.write('amail/server.json', text);
    assert.equal(openAmailMemory(home.dir, machine).load(), null, text);
  }
});
