import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../core/ports/index.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { openMcpHttp } from './http.node.ts';

const CLIENT = { name: 'test', version: '1' };
const META = 'io.modelcontextprotocol/';
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' } as const;
const WAIT = { name: 'wait', arguments: { seconds: 600 } };

for (const [era, body] of [
  ['2025-11-25', { ...CALL, params: WAIT }],
  [
    '2026-07-28',
    {
      ...CALL,
      params: {
        ...WAIT,
        _meta: {
          ...{ [`${META}protocolVersion`]: '2026-07-28', [`${META}clientInfo`]: CLIENT },
          [`${META}clientCapabilities`]: {},
        },
      },
    },
  ],
] as const) {
  test(`given a wait of a client of ${era}, when the client is gone, the call ends and its answer too`, async () => {
    using home = scratch();
    const mcp = await openMcpHttp({ env: { HIVEBAR_HOME: home.dir } }, silentLog);
    const gone = new AbortController();
    const headers = {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': era, 'mcp-method': 'tools/call', 'mcp-name': 'wait' },
    };
    const answered = mcp.answer({ persona: 'ada', method: 'POST', headers, body, signal: gone.signal });
    // The older revision answers at once with a stream, which ends with the call.
    const read = answered.then(async ({ status, body: text }) => {
      let length = 0;
      for await (const chunk of text ?? []) length += chunk.length;
      return { status, length };
    });
    await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    const { status, length } = await read;
    assert.deepEqual([status === 200 || status === 499, length], [true, 0]);
    (await answered).ended(false);
  });
}
