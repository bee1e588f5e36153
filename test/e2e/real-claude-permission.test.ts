import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { browserFor, live, openTab } from '../kit/browser.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
const DIALOG = /Do you want to proceed\?/;
const WAIT = { timeout: 30_000 };

test('a permission prompt of the real Claude Code is answered on the page: an allow runs the shown command, a denial runs nothing', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  const browser = await browserFor(t);
  if (browser === null) return;
  t.after(() => browser.close());
  using home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
  const project = `${home.home}/project`;
  mkdirSync(project);
  const make = (name: string) => ({ tool: 'Bash', input: { command: `touch ${name}`, description: `Make ${name}` } });
  await using model = await modelServer(({ fresh }) => {
    const [, name] = /Make the file (\w+)/.exec(fresh) ?? [];
    return name === undefined ? null : [make(name)];
  });
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir };
  const { code, stderr } = await home.run(['hook', 'install', '--harness', 'claude', '--persona', 'ada'], { env });
  assert.equal(code, 0, stderr);
  await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  const context = await browser.newContext();
  await context.addInitScript(`localStorage.setItem('hivebar-token', '${tray.token}')`);
  const page = await openTab(context, tray.url, []);
  await live(page);
  const card = (name: string) => page.locator('.prompt-card:not([data-flags="over"])', { hasText: `touch ${name}` });
  const waits = async (number: number): Promise<void> =>
    void (await tray.until('the prompts', ({ permissions }) => permissions.length === number));
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program, '--permission-mode', 'default']);
  await terminals.shows('one', PROMPT);

  // Nobody answers by default: the dialog of Claude Code is there as well.
  await terminals.say('one', 'Make the file ALLOWED');
  await card('ALLOWED').waitFor(WAIT);
  assert.match(
    (await card('ALLOWED').locator('pre').textContent()) ?? '',
    /^command: touch ALLOWED\ndescription: Make/,
  );
  await terminals.shows('one', DIALOG);
  assert.equal(existsSync(`${project}/ALLOWED`), false);
  await card('ALLOWED').getByRole('button', { name: 'Allow once' }).click();
  await until('the command ran', () => existsSync(`${project}/ALLOWED`));
  await waits(0);
  await terminals.shows('one', PROMPT);
  assert.ok(
    tray.log.some((line) => /^permission 1 of ada \(claude\): allowed from the page: Bash: command: touch/.test(line)),
  );

  await terminals.say('one', 'Make the file DENIED');
  await card('DENIED').waitFor(WAIT);
  await card('DENIED').getByRole('button', { name: 'Deny' }).click();
  await until('the model reads the denial', () =>
    model.asks.some(({ fresh }) => fresh.includes('denied this in Hivebar')),
  );
  await waits(0);
  await terminals.shows('one', PROMPT);
  assert.equal(existsSync(`${project}/DENIED`), false);

  // A person who sits at the terminal answers there, and the question leaves the page.
  await terminals.say('one', 'Make the file TYPED');
  await card('TYPED').waitFor(WAIT);
  await terminals.shows('one', DIALOG);
  await terminals.press('one', '1', (screen) => !DIALOG.test(screen));
  await until('the command ran', () => existsSync(`${project}/TYPED`));
  await waits(0);
  await terminals.shows('one', PROMPT);

  // A session that ends takes its question with it.
  await terminals.say('one', 'Make the file NEVER');
  await card('NEVER').waitFor(WAIT);
  terminals.ask('kill-session', '-t', 'one');
  await waits(0);
  assert.equal(existsSync(`${project}/NEVER`), false);
});
