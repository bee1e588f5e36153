import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { askTray } from '../../app/cli/tray-request.node.ts';
import { browserFor, openTab } from '../kit/browser.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';

const BARE = ['--no-tray', '--no-notifications'];

/** Until the page has kept a device key, which it returns. */
async function loggedIn(page: Page): Promise<string> {
  for (let tries = 0; tries < 1000; tries += 1) {
    const key = String(await page.evaluate("localStorage.getItem('hivebar-device')"));
    if (/^[0-9a-f]{64}$/.test(key)) return key;
    await sleep(20);
  }
  assert.fail(`not logged in at ${page.url()}`);
}

test('B1 given Open status page, no argv has the code: the browser is led by a file that only its owner can read', async (t) => {
  using home = trayHome();
  const folder = join(home.home, 'browser');
  const record = join(folder, 'argv');
  mkdirSync(folder);
  // What another user sees of a program: its command line, here with that of every process that has our home in it.
  const script = `#!/bin/sh\ncat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' >'${record}.part'\nmv '${record}.part' '${record}'\n`;
  writeFileSync(join(folder, 'xdg-open'), script, { mode: 0o700 });
  await using tray = await home.start(BARE, { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':99' });
  await tray.post('/api/v1/actions/page', {});
  await tray.cli.until('the browser', () => existsSync(record));

  const argv = readFileSync(record, 'utf8').split('\n');
  const given = argv.find((arg) => arg.startsWith(pathToFileURL(home.at('run')).href)) ?? assert.fail(argv.join(' '));
  const path = fileURLToPath(given);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
  const code = /#once=([0-9a-f]{64})"/.exec(readFileSync(path, 'utf8'))?.[1] ?? assert.fail('no code in the file');
  for (const secret of [code, tray.token]) assert.ok(!argv.some((arg) => arg.includes(secret)), 'a secret in an argv');

  const browser = await browserFor(t);
  if (browser === null) return;
  try {
    const complaints: string[] = [];
    const page = await openTab(await browser.newContext(), given, complaints);
    await page.waitForURL(`${tray.url}/`);
    assert.notEqual(await loggedIn(page), tray.token);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
  await tray.stop();
  assert.deepEqual(
    readdirSync(home.at('run')).filter((name) => name.endsWith('.html')),
    [],
  );
});

test('B3 given a foreign page that moves the window it opened to a code, the page hands nothing in', async (t) => {
  const browser = await browserFor(t);
  if (browser === null) return;
  using home = trayHome();
  await using tray = await home.start(BARE);
  const foreign = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<p>foreign'));
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  try {
    const context = await browser.newContext();
    const handedIn: string[] = [];
    context.on('request', (request) => {
      if (request.url().endsWith('/api/v1/token')) handedIn.push(request.postData() ?? '');
    });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    const opening = context.waitForEvent('page');
    await page.evaluate(`void (window.popup = window.open('${tray.url}/'))`);
    const popup = await opening;
    await popup.locator('#link[data-link="live"]').waitFor();
    for (const move of [
      `window.popup.location = '${tray.url}/#once=${'0'.repeat(64)}'`,
      `window.popup.location.hash = '#once=${'1'.repeat(64)}'`,
    ])
      await page.evaluate(move).catch(() => {}); // where the browser refuses it, all the better
    // The owner's own link in another tab is the proof that what was to come has come.
    const url = await tray.post('/api/v1/actions/link', {});
    const own = await context.newPage();
    await own.goto((url as { result: { url: string } }).result.url);
    await loggedIn(own);
    assert.equal(handedIn.length, 1, handedIn.join(' '));
    assert.equal(new URL(popup.url()).hash, '', 'the window was not moved');
  } finally {
    await browser.close();
    foreign.close();
  }
});

test('a browser stays logged in when Hivebar starts again, until its device is revoked', async (t) => {
  const browser = await browserFor(t);
  if (browser === null) return;
  using home = trayHome();
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    const read = async (): Promise<unknown> =>
      await page.evaluate(`(async () => {
        const Authorization = 'Bearer ' + localStorage.getItem('hivebar-device');
        return (await fetch('/api/v1/decisions', { headers: { Authorization } })).status;
      })()`);
    let port = 0;
    let key = '';
    {
      await using tray = await home.start(BARE);
      port = tray.port;
      await page.goto((await home.run(['open', '--print'])).stdout.trim());
      key = await loggedIn(page);
      await page.locator('#link[data-link="live"]').waitFor();
      await page.evaluate(`localStorage.setItem('hivebar-token', '${tray.token}')`); // as pasted; it ends with this run
      await tray.stop();
      await page.locator('#link[data-link="lost"]').waitFor();
    }
    await using tray = await home.start(['--port', String(port), ...BARE]);
    await page.locator('#link[data-link="live"]').waitFor();
    assert.equal(await read(), 200, 'the open tab goes on');
    await page.reload();
    await page.locator('#link[data-link="live"]').waitFor();
    assert.deepEqual([await loggedIn(page), await read()], [key, 200]);
    const listed = await home.run(['devices']);
    assert.match(
      listed.stdout,
      /^[0-9a-f]{8} {2}Chrome without a window on Linux {2}since [\d-]{10}, last used [\d-]{10}\n$/,
    );

    const revoked = await home.run(['devices', 'revoke', listed.stdout.slice(0, 8)]);
    assert.deepEqual([revoked.stdout, revoked.code], ['1 device revoked\n', 0]);
    await page.locator('#notice', { hasText: 'was logged out' }).waitFor();
    assert.deepEqual(await page.evaluate("localStorage.getItem('hivebar-device')"), null);
    await page.goto((await home.run(['open', '--print'])).stdout.trim());
    assert.notEqual(await loggedIn(page), key);
    await tray.stop();
    assert.equal(
      (await home.run(['devices', 'revoke', '--all'])).stdout,
      '1 device revoked\n',
      'also while nothing runs',
    );
    assert.equal((await home.run(['devices', '--json'])).stdout, '[]\n');
  } finally {
    await browser.close();
  }
});

test('at a terminal the start prints a link that logs a browser in; a pipe gets none', async (t) => {
  if (needs(t, existsSync('/usr/bin/script') ? null : 'script is missing: apt-get install bsdutils')) return;
  using home = trayHome();
  const findLink = (lines: readonly string[]): string | undefined =>
    lines.map((line) => /http:\/\/127\.0\.0\.1:\d+\/#once=[0-9a-f]{64}/.exec(line)?.[0]).find(Boolean);
  {
    await using piped = await home.start(BARE);
    await home.run(['poll']);
    await piped.stop();
    assert.equal(findLink([...piped.cli.lines, ...piped.cli.stderr.split('\n')]), undefined);
  }
  const inTerminal = ['/bin/sh', '-c', 'exec /usr/bin/script -qefc "$*" /dev/null', 'sh'];
  await using terminal = home.spawn(BARE, {}, inTerminal);
  await terminal.until('the link', () => findLink(terminal.lines) !== undefined);
  const link = new URL(findLink(terminal.lines) ?? '');
  assert.match(terminal.lines.join('\n'), /logs one browser in, within 10 min/);
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: link.hash.slice('#once='.length) }),
  };
  assert.equal((await fetch(`${link.origin}/api/v1/token`, init)).status, 200);
  await askTray({ method: 'POST', path: '/api/v1/actions/quit', body: '{}' }, home.env);
  await terminal.ended();
});
