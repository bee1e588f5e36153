import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { copyProject } from './copy.ts';

const CHANNEL = `import type { ChannelModule } from './channel.ts';

/** Posts each notification as JSON to an address of the user. */
export const webhook: ChannelModule = {
  name: 'webhook',
  place: 'away',
  settings: {
    type: 'object',
    properties: { url: { type: 'string', minLength: 1 } },
    required: ['url'],
    additionalProperties: false,
  },
  open: ({ url }) => ({
    name: 'webhook',
    can: { replace: false, withdraw: false, buttons: 0 },
    async send({ key, title, body, urgency }, signal) {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify({ key, title, body, urgency }), signal } as const;
      const response = await fetch(String(url), { ...request, redirect: 'error' });
      await response.body?.cancel();
      if (!response.ok) throw new Error(\`\${url} answered \${response.status}\`);
    },
  }),
};
`;

const PAGE = `# Channel: webhook

    hivebar config set channels '{"webhook": {"url": "http://127.0.0.1:8080/"}}'

## What happens

Each notification is posted to the address as JSON: \`key\`, \`title\`, \`body\`, \`urgency\`.
`;

test('a newcomer adds a webhook channel: one file, one registry row, one page; then new mail arrives there', async (t) => {
  if (needs(t, process.platform === 'win32' ? 'the program of the copy is started by a shell' : null)) return;
  using copy = copyProject();
  copy.add('app/notify/channels/webhook.node.ts', CHANNEL);
  copy.edit(
    'app/notify/channels/registry.ts',
    "import { file } from './file.ts';\n",
    "import { file } from './file.ts';\nimport { webhook } from './webhook.node.ts';\n",
  );
  copy.edit('app/notify/channels/registry.ts', '= [desktop, file];', '= [desktop, file, webhook];');
  copy.add('docs/guides/channels/webhook.md', PAGE);
  assert.deepEqual(copy.touched(), [
    'app/notify/channels/registry.ts',
    'app/notify/channels/webhook.node.ts',
    'docs/guides/channels/webhook.md',
  ]);
  assert.equal(copy.compile('app/notify/channels'), '');
  assert.equal(copy.test('test/house/channels.test.ts'), '');

  const posted: { readonly title: string; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      posted.push(JSON.parse(body));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    using home = trayHome({ primary: { is: 'local' }, tray: 'none', channels: { webhook: { url } } });
    await using tray = await home.start([], {}, copy.program);
    assert.equal((await home.run(['send', '--to', 'ada', '--from', 'bo', 'hello'])).code, 0);
    await until('the notification', () => posted.length > 0);
    assert.deepEqual(
      posted.map(({ title, body }) => ({ title, body })),
      [{ title: 'ada: 1 new', body: 'bo: hello' }],
    );
    const { notifications } = await tray.status();
    assert.match(notifications.state, /webhook: webhook$/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
