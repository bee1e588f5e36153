import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { StatusWire } from '../../app/status/index.ts';
import { browserFor, live, openTab } from '../kit/browser.ts';
import { desktopMissing, skipUnless, startDesktop } from '../kit/desktop/index.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { freePort } from '../kit/nats-server.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** The names that a program on the desktop is given. */
const SESSION = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'XDG_RUNTIME_DIR', 'XDG_CURRENT_DESKTOP'] as const;

const readPid = (home: TrayHome): number => Number(/"pid":(\d+)/.exec(home.ran('hivebar.json') ?? '')?.[1] ?? 0);

/** Every file below a folder, with its content. */
function readTree(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const stat = lstatSync(join(folder, name));
    found[name] = stat.isFile() ? readFileSync(join(folder, name), 'utf8') : stat.isDirectory() ? 'folder' : 'other';
  }
  return found;
}

const isHeadline = (page: Page, words: RegExp): Promise<void> =>
  until(`the headline ${words}`, async () => words.test((await page.locator('h1').first().textContent()) ?? ''));

test("a person's day: install, three agents, a question, an outage, a restart, a reply, undo, uninstall", {
  skip: skipUnless(desktopMissing()),
}, async (t) => {
  const browser = await browserFor(t);
  if (browser === null) return;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => browser.close());
  const desktop = stack.use(await startDesktop());
  const hive = stack.use(await fakeHive({ personas: ['cy'] }));
  const settings = {
    ...{ primary: { is: 'local' }, hives: [{ name: 'team', base: hive.url }] },
    ...{ pollSeconds: 1, alertAfter: 2, holdSeconds: 0 },
  };
  const home = stack.use(trayHome(settings));
  const session = Object.fromEntries(SESSION.map((name) => [name, desktop.env[name] ?? '']));
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env: session });
    assert.equal(code, 0, `hivebar ${args.join(' ')}: ${stdout}${stderr}`);
    return `${stdout}${stderr}`;
  };
  for (const folder of ['.claude', '.codex', '.config/autostart', '.local/share/applications'])
    mkdirSync(join(home.home, folder), { recursive: true });
  const before = readTree(home.home);

  // Morning: Hivebar is installed, and three agents get their mail.
  await run('hook', 'install', '--harness', 'claude', '--persona', 'ada');
  const codex = await home.run(['hook', 'install', '--harness', 'codex', '--persona', 'bo']);
  assert.match(codex.stdout + codex.stderr, /installed, not trusted: run \/hooks in Codex/);
  await run('service', 'install');
  const first = stack.use(await home.start(['--port', String(await freePort())], session));
  await run('send', '--to', 'ada', '--from', 'bo', 'the parser is ready');
  await run('send', '--to', 'bo', '--from', 'ada', '--urgent', 'main is red');
  hive.deliver('cy', { from: 'ops', content: 'the disk is full' });
  await first.until('three unread messages', ({ totals }) => totals.unread === 3);

  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const complaints: string[] = [];
  const link = /http:\S+/.exec(await run('open', '--print'))?.[0] ?? assert.fail('no link');
  const page = await openTab(context, link, complaints);
  await live(page);
  await isHeadline(page, /^3.unread, 1.urgent$/);
  const names = await page.locator('.card h2').allInnerTexts();
  assert.equal(names[0], 'bo', 'urgent mail comes first');
  assert.match((await page.locator('.card', { hasText: 'bo' }).first().textContent()) ?? '', /ada[\s\S]*main is red/);

  // A question, answered by the keyboard while its agent waits.
  await run('decision', 'create', '--as', 'ada', '--option', 'a=Keep both', '--option', 'b=Drop it', 'How?');
  await desktop.notifications.wait(/^ada asks\nHow\?/);
  await desktop.tray.of(first.pid).waitLabel(/ada asks|How\?/);
  await isHeadline(page, /^1.question for you, 3.unread, 1.urgent$/);
  await page.locator('.decision .options button').first().waitFor();
  await page.keyboard.press('q');
  await page.keyboard.press('2');
  const { code, stdout } = await home.run(['decision', 'wait', '1']);
  assert.deepEqual([code, stdout.includes('Drop it')], [0, true], stdout);
  await isHeadline(page, /^[34].unread, 1.urgent$/);

  // An outage of the hive of the third agent, and its end.
  await hive.refuse();
  await desktop.notifications.wait(/team|cy/);
  await page.locator('.health', { hasText: '2/3 reachable' }).waitFor();
  assert.match((await page.locator('#causes').textContent()) ?? '', /^\s*team\b/);
  await hive.heal();
  await page.locator('.health', { hasText: '3/3 reachable' }).waitFor();

  // A restart: the page says so at once, and is still logged in after it.
  const since = (await first.status()).personas.find(({ id }) => id === 'ada')?.since;
  await run('restart');
  stack.defer(() => {
    const pid = readPid(home);
    if (pid > 0) process.kill(pid, 'SIGKILL');
  });
  await live(page);
  await isHeadline(page, /unread, 1.urgent$/);
  const url = `http://127.0.0.1:${/"port":(\d+)/.exec(home.ran('hivebar.json') ?? '')?.[1]}`;
  const status = (await (await fetch(`${url}/status.json`)).json()) as StatusWire;
  const ada = status.personas.find(({ id }) => id === 'ada');
  const later = Date.parse(ada?.since ?? '') - Date.parse(since ?? '');
  assert.ok(later < 1000, `up since ${ada?.since}, and since ${since} before the restart`);
  assert.match((await page.locator('.card', { hasText: 'bo' }).first().textContent()) ?? '', /main is red/);

  // A reply to bo's message, by the keyboard, and a mark that is taken back.
  await page.keyboard.press('n');
  await page.locator('#view h1', { hasText: 'bo' }).waitFor();
  const message = page.locator('.mail', { hasText: 'main is red' });
  await message.waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.keyboard.press('r');
  await page.locator('#reply .target', { hasText: 'To ada, in answer to this message' }).waitFor();
  await page.keyboard.type('I fix it.');
  await page.keyboard.press('Control+Enter');
  await message.locator('.mail-reply', { hasText: 'I fix it.' }).waitFor();
  const mail = JSON.parse(await run('inbox', 'list', '--json', 'ada'));
  assert.deepEqual([mail[0].from, mail[0].content], ['operator', 'I fix it.']);
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await page.locator('#done', { hasText: '1 message marked as read.' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('#view .count', { hasText: /1/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.card').first().waitFor();

  // The evening: nothing is left.
  await context.close();
  assert.deepEqual(
    complaints.filter((words) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|Failed to fetch/.test(words)),
    [],
  );
  await run('uninstall', '--purge', '--yes');
  assert.deepEqual(readTree(home.home), before);
  assert.equal(existsSync(home.dir), false);
});
