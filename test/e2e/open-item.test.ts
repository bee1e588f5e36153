import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fakeAgentMail, PROJECT } from '../kit/fake-agent-mail.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

test('the link of a message is opened by the program of the desktop, by its number, and nothing else is', async () => {
  await using server = await fakeAgentMail({ token: 'token-of-the-mail-server' });
  server.addAgent('BlueLake');
  using home = trayHome({ primary: { is: 'local' }, pollSeconds: 1 });
  const bin = join(home.home, 'bin');
  const opened = join(home.home, 'opened');
  mkdirSync(bin);
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$1" >> '${opened}'\n`);
  chmodSync(join(bin, 'xdg-open'), 0o755);
  mkdirSync(join(home.home, '.mcp_agent_mail'));
  const env = `HTTP_PORT=${server.port}\nHTTP_BEARER_TOKEN=token-of-the-mail-server\n`;
  writeFileSync(join(home.home, '.mcp_agent_mail', '.env'), env, { mode: 0o600 });
  await using tray = await home.start(['--no-tray', '--no-notifications'], {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  });
  await tray.persona('amail-BlueLake', ({ state }) => state === 'UP');
  const id = server.deliver({ to: ['BlueLake'], subject: 'Build is red' });
  await tray.persona('amail-BlueLake', ({ unread }) => unread === 1);
  const open = async (number: number): Promise<string> => {
    const answer = await fetch(`${tray.url}/api/v1/actions/open-item`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tray.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ persona: 'amail-BlueLake', id: number }),
    });
    return `${answer.status} ${await answer.text()}`;
  };
  await until('it is delivered', async () => !(await open(id)).startsWith('400'));
  assert.match(await open(id), /^200 \{"result":\{"opened":"url"\}\}/);
  await until('it is opened', () => existsSync(opened));
  assert.equal(readFileSync(opened, 'utf8').split('\n')[0], `${server.url}/mail/${PROJECT}/message/${id}`);
  assert.match(await open(id + 1), /^400 .*has no link/);
});
