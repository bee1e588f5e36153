import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { test } from 'node:test';
import type { PersonaWire } from '../../app/status/index.ts';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { desktopMissing, startDesktop } from '../kit/desktop/index.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
/** What the API says to an account without credit. */
const NO_CREDIT = {
  fails: 400,
  error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
} as const;

test('the real Claude Code whose model refuses: its agent cannot work, once in words and once as a banner, until it works again', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  if (needs(t, desktopMissing())) return;
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const thinking = Promise.withResolvers<null>();
  await using model = await modelServer(({ fresh }) => {
    if (fresh.includes('Begin')) return [NO_CREDIT];
    if (fresh.includes('Go on')) return thinking.promise;
    return null;
  });
  const path = `${dirname(client.program)}${delimiter}${process.env.PATH}`;
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir, PATH: path };
  const installed = await home.run(['hook', 'install', '--harness', 'claude', '--persona', 'ada'], { env });
  assert.deepEqual([installed.code, installed.stdout.includes('StopFailure')], [0, false], installed.stdout);
  assert.match(readFileSync(`${home.home}/.claude/settings.json`, 'utf8'), /"StopFailure"/);
  await home.run(['inbox', 'push', '--to', 'ada', '--type', 'event', '--priority', '4', 'hello']);
  await using desktop = await startDesktop({ host: 'none' });
  await using tray = await home.start(['--no-tray'], {
    DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '',
  });
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await terminals.shows('one', PROMPT);
  const is = (state: PersonaWire['agent']): Promise<PersonaWire> => tray.persona('ada', ({ agent }) => agent === state);
  await is('idle');
  await terminals.say('one', 'Begin');
  assert.equal((await is('waiting')).agentReason, 'failed-billing-error');
  const banner = await desktop.notifications.wait(/ada cannot work\nIts account has a billing problem\./);
  const shown = await home.run(['status'], { env });
  assert.match(shown.stdout, /WAITS .* ada: cannot work: its account has a billing problem/);
  await terminals.say('one', 'Go on');
  await is('working');
  await until('the banner is gone', async () => (await desktop.notifications.open()).every((b) => b.id !== banner.id));
  thinking.resolve(null);
  await is('idle');
});
