import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { toStem } from '../../core/state/index.ts';
import { fakeAgentMail, PROJECT } from '../kit/fake-agent-mail.ts';
import { standIn, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const STEM = toStem('amail-BlueLake');
const TOKEN = 'the-token-of-the-mail-server';
const EVIL = 'Plan\u2028B\u001b[2J\u202edlrow';

test('amail 7: a server is found without any set-up, and an outage keeps its counts and ends with one recovered; amail 2: only GET is sent; amail 12: every surface cleans a subject', async () => {
  await using server = await fakeAgentMail({ token: TOKEN });
  for (const name of ['BlueLake', 'GreenCastle']) server.addAgent(name);
  server.deliver({ to: ['BlueLake'], subject: 'old' });
  await server.refuse();
  using home = trayHome({ primary: { is: 'local' }, pollSeconds: 1 });
  const browser = standIn(home, 'xdg-open');
  mkdirSync(join(home.home, '.mcp_agent_mail'));
  const env = `HTTP_PORT=${server.port}\nHTTP_BEARER_TOKEN=${TOKEN}\n`;
  writeFileSync(join(home.home, '.mcp_agent_mail', '.env'), env, { mode: 0o600 });
  await using tray = await home.start(['--no-tray', '--no-notifications'], browser.env);
  const before = await tray.status();
  assert.deepEqual(
    before.hives.map(({ source }) => source).filter((source) => source === 'amail'),
    [],
    'nothing is there, which is no outage',
  );
  await server.heal();
  await tray.post('/api/v1/actions/poll', {});
  const found = await tray.persona('amail-BlueLake', ({ unread }) => unread === 1);
  assert.deepEqual([found.label, found.source, found.state], ['BlueLake · p', 'amail', 'UP']);

  const id = server.deliver({
    to: ['BlueLake', 'GreenCastle'],
    from: 'GreenCastle',
    subject: EVIL,
    importance: 'high',
  });
  await until('both have it', () =>
    ['BlueLake', 'GreenCastle'].every((name) => home.mail(toStem(`amail-${name}`)).length === 1),
  );
  const [mail] = home.events(STEM).filter(({ event }) => event === 'new');
  assert.deepEqual([mail?.id, mail?.subject, mail?.source], [id, EVIL, 'agent-mail'], 'the old one is no news');
  assert.equal(mail?.link, `${server.url}/mail/${PROJECT}/message/${id}`);
  const status = await tray.persona('amail-BlueLake', ({ unread }) => unread === 2);
  assert.equal(status.urgent, 1);
  const tail = await home.run(['tail', 'amail-BlueLake']);
  const shown = [
    tail.stdout,
    (await home.run(['status'])).stdout,
    await (await fetch(`${tray.url}/status.json`)).text(),
  ];
  for (const text of shown) for (const part of ['\u2028', '\u001b']) assert.ok(!text.includes(part), text);
  const events = await fetch(`${tray.url}/api/v1/events`, { headers: { authorization: `Bearer ${tray.token}` } });
  assert.ok(!(await events.text()).includes('\u2028'));

  assert.deepEqual(await tray.post('/api/v1/actions/open', { persona: 'amail-BlueLake' }), {
    result: { opened: 'url' },
  });
  await until('its page', () => browser.calls.includes(`${server.url}/mail/${PROJECT}/inbox/BlueLake`));

  await server.refuse();
  const down = await tray.persona('amail-BlueLake', ({ state }) => state === 'DOWN');
  assert.equal(down.unread, 2, 'never 0 unread');
  await server.heal();
  await tray.persona('amail-BlueLake', ({ state }) => state === 'UP');
  server.markRead('BlueLake');
  await tray.persona('amail-BlueLake', ({ unread }) => unread === 0);
  const names = home.events(STEM).map(({ event }) => event);
  assert.deepEqual(names, ['baseline_skipped', 'armed', 'new', 'alert', 'recovered']);
  assert.ok(!JSON.stringify([tray.cli.stderr, await tray.status()]).includes(TOKEN), 'the token is never shown');
  assert.ok(server.requests.every((request) => request.startsWith('GET ')));
});
