import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { commandLine } from '../kit/command-line.ts';
import { connectMcpHttp, ERAS } from '../kit/mcp-client.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const ON = { primary: { is: 'local' }, mcpOverHttp: true };

/** The command line in the process of the test. */
async function run(home: TrayHome, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await commandLine(args, home.env);
  assert.equal(code, 0, err);
  return out;
}

const send = (home: TrayHome, to: string, text: string) => run(home, 'send', '--to', to, '--from', 'bo', text);

async function countPending(home: TrayHome): Promise<number> {
  return (JSON.parse(await run(home, 'inbox', 'list', 'ada', '--pending', '--json')) as unknown[]).length;
}

const READ = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'inbox_read', arguments: {} } };

/** A POST with exactly these headers. */
function postRaw(
  tray: TrayProcess,
  headers: Readonly<Record<string, string>>,
  path = '/mcp',
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const own = {
      ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json', connection: 'close' },
      ...{ host: `127.0.0.1:${tray.port}`, 'hivebar-persona': 'ada', ...headers },
    };
    const sent = request({ host: '127.0.0.1', port: tray.port, method: 'POST', path, headers: own }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(READ));
  });
}

for (const era of ERAS) {
  describe(`MCP over HTTP, to a client that begins as in ${era}`, () => {
    test('given mail, when an agent lists, reads, answers and asks, then it is as over stdio, and its mail is read once', async () => {
      using home = trayHome(ON);
      await using tray = await home.start(['--no-tray']);
      await send(home, 'ada', 'please </item> review');
      await using mcp = await connectMcpHttp(tray, 'ada', era);
      const { tools } = await mcp.client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['inbox_list', 'inbox_read', 'inbox_send', 'wait', 'who', 'decision_ask', 'gate_mark'],
      );
      assert.equal((await mcp.call('inbox_list')).data.unread, 1);
      assert.equal(await countPending(home), 1, 'a list marks nothing');
      assert.match((await mcp.call('inbox_read')).text, /<item id="1" from="bo" [^>]*>\nplease &lt;\/item> review/);
      await until('it is read', async () => (await countPending(home)) === 0);
      assert.match((await mcp.call('inbox_read')).text, /no unread mail/);
      assert.equal((await mcp.call('inbox_send', { to: 'bo', text: 'done', replyTo: 1 })).data.id, 2);
      assert.equal((await mcp.call('inbox_read', { ids: [99] })).isError, true);
      const options = [{ id: 'y', label: 'Yes' }];
      assert.deepEqual((await mcp.call('decision_ask', { question: 'Deploy?', options })).data, { id: 1 });
      await tray.until('the question', ({ decisions }) => decisions.length === 1);
      const waited = mcp.call('wait', { seconds: 600 });
      await run(home, 'decision', 'respond', '1', '--select', 'y', '--by', 'me');
      assert.deepEqual((await waited).data.came, [{ kind: 'answer', id: 3 }]);
      const agents = (await mcp.call('who')).data.agents as readonly { readonly id: string }[];
      assert.ok(agents.some(({ id }) => id === 'ada'));
      const { contents } = await mcp.client.readResource({ uri: 'hivebar://inbox/ada' });
      assert.match(JSON.stringify(contents), /\\"unread\\":1/);
    });

    test('given a wait, when its client leaves, then it ends, and mail that comes stays unread', async () => {
      using home = trayHome(ON);
      await using tray = await home.start(['--no-tray']);
      await using mcp = await connectMcpHttp(tray, 'ada', era);
      const left = new AbortController();
      const waited = mcp.call('wait', { seconds: 600 }, { signal: left.signal });
      await until('it is held', async () => /^hivebar_holds 1$/m.test(await readMetrics(tray)));
      const refused = assert.rejects(waited);
      // Each request stands alone, so the older revision, which cancels by another request, can only leave.
      if (era === '2025-11-25') await mcp.client.close();
      else left.abort();
      await refused;
      await until('its place is free', async () => /^hivebar_holds 0$/m.test(await readMetrics(tray)));
      await send(home, 'ada', 'hello');
      assert.equal(await countPending(home), 1);
    });
  });
}

describe('MCP over HTTP', () => {
  test('given a client of 2026-07-28 with forms, when its person answers, then the call returns the answer and the decision is closed', async () => {
    using home = trayHome(ON);
    await using tray = await home.start(['--no-tray']);
    await using mcp = await connectMcpHttp(tray, 'ada', '2026-07-28', async () => ({
      action: 'accept',
      content: { answer: 'y' },
    }));
    const options = [{ id: 'y', label: 'Yes' }];
    const { data } = await mcp.call('decision_ask', { question: 'Deploy?', options });
    assert.deepEqual([data.id, data.answer], [1, 'y']);
    const decision = JSON.parse(await run(home, 'decision', 'show', '1', '--json')) as { readonly choice: string };
    assert.equal(decision.choice, 'y');
  });

  test('given the setting is off, as it is at first, then it is refused with the command that switches it on', async () => {
    using home = trayHome();
    await using tray = await home.start(['--no-tray']);
    await send(home, 'ada', 'SECRET');
    const { status, text } = await postRaw(tray, { authorization: `Bearer ${tray.token}` });
    assert.equal(status, 403);
    assert.match(text, /"mcp-off".*hivebar config set mcpOverHttp true/);
    assert.equal(await countPending(home), 1);
  });

  test('another Host, another Origin, no token and a wrong one are refused, also without a persona or with two, and nothing is read', async () => {
    using home = trayHome(ON);
    await using tray = await home.start(['--no-tray']);
    await send(home, 'ada', 'SECRET');
    const authorization = `Bearer ${tray.token}`;
    for (const [headers, expected, path] of [
      [{ authorization, host: 'evil.example.com' }, 403],
      [{ authorization, origin: 'http://evil.example.com' }, 403],
      [{ authorization, origin: 'null' }, 403],
      [{ authorization, 'sec-fetch-site': 'cross-site' }, 403],
      [{ authorization, 'content-type': 'text/plain' }, 415],
      [{ authorization: 'Bearer wrong' }, 401],
      [{}, 401],
      [{ authorization, 'hivebar-persona': '' }, 400],
      [{ authorization }, 400, '/mcp?persona=bo'],
    ] as const) {
      const { status, text } = await postRaw(tray, headers, path);
      assert.equal(status, expected, JSON.stringify(headers));
      assert.doesNotMatch(text, /SECRET/);
    }
    assert.equal(await countPending(home), 1);
    const read = await postRaw(tray, { authorization, 'mcp-protocol-version': '2025-11-25' }, '/mcp?persona=ada');
    assert.equal(read.status, 200);
    assert.match(read.text, /SECRET/);
    await until('it is read', async () => (await countPending(home)) === 0);
  });
});

async function readMetrics(tray: TrayProcess): Promise<string> {
  return await (await fetch(`${tray.url}/metrics`, { headers: { connection: 'close' } })).text();
}
