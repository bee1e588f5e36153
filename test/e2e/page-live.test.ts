import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browserFor, live } from '../kit/browser.ts';
import { trayHome } from '../kit/tray-process.ts';

/** How news reaches the tabs of a real browser, and what they say when the program stops. */

let browser: Browser | null = null;
after(() => browser?.close());

async function open(t: TestContext) {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext();
  t.after(() => context.close());
  const requests: string[] = [];
  context.on('request', (request) => requests.push(new URL(request.url()).pathname));
  return { context, requests };
}

const unread = (page: Page, count: number): Promise<void> =>
  page
    .locator('[data-id="ada"] [data-slot="unread"]', { hasText: new RegExp(`^${count}$`) })
    .waitFor({ timeout: 10_000 });

test('given a program that stops, each tab says so at once, while no timer of the page runs', async (t) => {
  const opened = await open(t);
  if (opened === null) return;
  using home = trayHome();
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await tray.post('/api/send', { to: 'ada', from: 'mia', content: 'hello' });
  const tabs = [await opened.context.newPage(), await opened.context.newPage()];
  for (const page of tabs) {
    await page.clock.install();
    await page.goto(`${tray.url}/`);
    await live(page);
    await unread(page, 1);
  }
  for (const page of tabs) await page.clock.pauseAt(Date.now() + 2000);
  for (const page of tabs) await live(page);
  await tray.stop();
  for (const page of tabs)
    await page.locator('#link[data-link="lost"]', { hasText: 'Disconnected' }).waitFor({ timeout: 10_000 });
});

test('given a tab that opens later, it gets everything from the first one, and no other request is made', async (t) => {
  const opened = await open(t);
  if (opened === null) return;
  using home = trayHome();
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await tray.post('/api/send', { to: 'ada', from: 'mia', content: 'first' });
  await tray.persona('ada', (persona) => persona.unread === 1);
  const first = await opened.context.newPage();
  await first.goto(`${tray.url}/`);
  await live(first);
  const second = await opened.context.newPage();
  await second.goto(`${tray.url}/`);
  await live(second);
  await unread(second, 1);
  await tray.post('/api/send', { to: 'ada', from: 'mia', content: 'second' });
  for (const page of [first, second]) await unread(page, 2);
  const count = (path: string): number => opened.requests.filter((other) => other === path).length;
  assert.deepEqual([count('/api/v1/stream'), count('/status.json')], [1, 0]);
});
