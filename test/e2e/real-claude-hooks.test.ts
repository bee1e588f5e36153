import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
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

test('the real Claude Code with our hooks: idle, working, waiting, held at its Stop and let go, each seen everywhere', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  if (needs(t, desktopMissing())) return;
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const write = { tool: 'Write', input: { file_path: `${project}/NOTE.md`, content: 'x' } };
  const thinking = Promise.withResolvers<null>();
  const answered = Promise.withResolvers<null>();
  await using model = await modelServer(({ fresh }) => {
    if (fresh.includes('Think about it')) return thinking.promise;
    if (fresh.includes('Write the note')) return [write];
    if (fresh.includes('This stop is held by Hivebar')) return answered.promise;
    return null;
  });
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir };
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await run('hook', 'install', '--harness', 'claude', '--persona', 'ada');
  await using desktop = await startDesktop({ host: 'none' });
  await using tray = await home.start(['--no-tray'], {
    DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '',
  });
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program, '--permission-mode', 'default']);
  await terminals.shows('one', PROMPT);
  const is = (state: PersonaWire['agent']): Promise<PersonaWire> => tray.persona('ada', ({ agent }) => agent === state);
  const askedWith = (text: string) => model.asks.find(({ fresh }) => fresh.includes(text))?.fresh ?? null;

  await run('inbox', 'push', '--to', 'ada', '--type', 'event', 'MAIL FOR ADA');
  await is('idle');
  await tray.until('the session is no row of its own', ({ personas }) => personas.every(({ id }) => id === 'ada'));
  await terminals.say('one', 'Think about it');
  const working = await is('working');
  assert.equal(working.cwd, project);
  await until('the model is asked', () => askedWith('Think about it') !== null);
  assert.match(askedWith('Think about it') ?? '', /MAIL FOR ADA/, 'injected with the prompt');
  thinking.resolve(null);
  await is('idle');

  // It asks its person, who says yes. Mail that came meanwhile is injected at the end of the tool.
  await terminals.say('one', 'Write the note');
  assert.equal((await is('waiting')).agentReason, 'permission');
  const banner = await desktop.notifications.wait(/ada waits at a permission prompt/);
  await run('inbox', 'push', '--to', 'ada', '--type', 'alert', '--priority', '0', 'MAIN IS RED');
  await terminals.shows('one', /Do you want to create NOTE\.md\?/);
  // A question for the person holds the Stop that follows.
  const created = await run('decision', 'create', '--as', 'ada', '--option', 'a=the long way', 'Which way?');
  const decision = /^decision (\d+) /.exec(created)?.[1] ?? '';
  await terminals.press('one', '1', (screen) => !/Do you want to create NOTE\.md\?/.test(screen));
  await until('the file', () => existsSync(`${project}/NOTE.md`));
  await until('the mail at the end of the tool', () => askedWith('MAIN IS RED') !== null);
  await until('the banner is gone', async () => (await desktop.notifications.open()).every((b) => b.id !== banner.id));
  await until('the Stop is held', () => askedWith('This stop is held by Hivebar') !== null);
  assert.match(askedWith('This stop is held by Hivebar') ?? '', /Which way\?.*is not answered/s);
  assert.equal((await is('working')).agent, 'working');
  await run('decision', 'respond', decision, '--select', 'a');
  answered.resolve(null);
  await is('idle');
  await terminals.shows('one', PROMPT);

  const waits = (): readonly unknown[] =>
    home.events('ada').flatMap(({ event }) => (event === 'waiting' || event === 'resumed' ? [event] : []));
  await until(
    () => waits().join(' '),
    () => waits().length === 2,
  );
  assert.deepEqual(waits(), ['waiting', 'resumed']);

  await terminals.say('one', '/exit');
  await is('gone');
});
