import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { Fault } from '../../core/model/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab, press } from '../kit/browser.ts';
import { createMail, type StatusRig, statusRig, TOKEN } from '../kit/status-rig.ts';

/** The overview of few and of many personas, in a real browser. */

const WAIT = { timeout: 10_000 };

let browser: Browser | null = null;
after(() => browser?.close());

interface Opened extends AsyncDisposable {
  readonly page: Page;
  readonly complaints: string[];
}

async function open(t: TestContext, rig: StatusRig, options: BrowserContextOptions = {}, token = false) {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext({ colorScheme: 'light', ...options });
  if (token) await context.addInitScript(`localStorage.setItem('hivebar-token', ${JSON.stringify(TOKEN)})`);
  const complaints: string[] = [];
  const page = await openTab(context, rig.server.urls[0] ?? '', complaints);
  if (options.javaScriptEnabled !== false) await live(page);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() } satisfies Opened;
}

const formatName = (i: number): string => `agent-${String(i).padStart(4, '0')}`;

function crowd(rig: StatusRig, count: number): void {
  for (let i = 0; i < count; i += 1) {
    rig.join(formatName(i));
    rig.poll(formatName(i), 0);
  }
}

const readText = async (locator: Locator): Promise<string> => (await locator.allInnerTexts()).join('\n');
const countNodes = (page: Page): Promise<unknown> =>
  page.evaluate("document.evaluate('count(//node())', document, null, XPathResult.NUMBER_TYPE).numberValue");
const measureHeight = async (page: Page): Promise<number> =>
  Number(await page.evaluate('document.documentElement.scrollHeight'));

test('from twenty personas on each is one row; 201 are under 9,000 px high, also at 360 px', async (t) => {
  await using rig = await statusRig();
  crowd(rig, 19);
  await using few = await open(t, rig);
  if (few === null) return;
  assert.equal(await few.page.locator('.card').count(), 19);
  crowd(rig, 201);
  await few.page.locator('.inbox-row').first().waitFor(WAIT);
  assert.equal(await few.page.locator('.card').count(), 0);
  for (const width of [1280, 360]) {
    await few.page.setViewportSize({ width, height: 800 });
    const height = await measureHeight(few.page);
    assert.ok(height > 201 * 36 && height < 9000, `${height} px at ${width}`);
    assert.equal(await measureOverflow(few.page), 0);
  }
  const heights = await few.page.locator('.inbox-row').evaluateAll((rows) => rows.map((row) => row.clientHeight + 1));
  assert.deepEqual([...new Set(heights)], [36]);
  assert.deepEqual(few.complaints, []);
});

test('of 1,001 personas at most 3,000 nodes are in the document, wherever a person looks; each can be reached', async (t) => {
  await using rig = await statusRig();
  crowd(rig, 1001);
  await using off = await open(t, rig, { javaScriptEnabled: false });
  await using on = await open(t, rig);
  if (off === null || on === null) return;
  assert.equal(await off.page.locator('.inbox-row').count(), 50, 'the server writes the first ones');
  assert.match(await readText(off.page.locator('body')), /951 more/);
  const { page } = on;
  for (const at of [0, 0.5, 1]) {
    await page.evaluate(`scrollTo(0, ${at} * document.documentElement.scrollHeight)`);
    const expected = formatName(at === 1 ? 1000 : Math.round(at * 1001));
    await page.locator(`.inbox-row[data-id="${expected}"]`).waitFor(WAIT);
    const nodes = Number(await countNodes(page));
    assert.ok(nodes <= 3000, `${nodes} nodes`);
  }
  const last = page.locator('.inbox-row').last();
  assert.deepEqual(
    [await last.getAttribute('aria-posinset'), await last.getAttribute('aria-setsize')],
    ['1001', '1001'],
  );
  rig.poll(formatName(777), 0, 1);
  await page.locator(`.inbox-row:first-child`).waitFor({ ...WAIT, state: 'attached' });
  await page.evaluate('scrollTo(0, 0)');
  await page.locator(`.inbox-row:first-child[data-id="${formatName(777)}"]`, { hasText: '1 urgent' }).waitFor(WAIT);
  assert.deepEqual(on.complaints, []);
});

test('the keyboard reaches every row of a crowd; who is open has the focus when the person comes back', async (t) => {
  await using rig = await statusRig();
  crowd(rig, 300);
  await using opened = await open(t, rig);
  if (opened === null) return;
  const { page } = opened;
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
  for (let i = 0; i < 60; i += 1) await page.keyboard.press('j');
  assert.equal(await focused(), formatName(59));
  assert.ok(await page.evaluate('document.activeElement.getBoundingClientRect().top < innerHeight'), 'and is in sight');
  await press(page, 'k');
  await press(page, 'ArrowUp');
  assert.equal(await focused(), formatName(57));
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.locator(`.inbox-row[data-id="${formatName(299)}"]`).waitFor(WAIT);
  assert.equal(await focused(), formatName(57), 'a row out of sight keeps the focus');
  await press(page, 'Enter');
  await page.locator('#view h1', { hasText: formatName(57) }).waitFor(WAIT);
  await press(page, 'Escape');
  await page.locator('#view').waitFor({ ...WAIT, state: 'hidden' });
  assert.equal(await focused(), formatName(57));
  await press(page, '/');
  await page.keyboard.type('0299');
  await press(page, 'Enter');
  await page.locator('#view h1', { hasText: formatName(299) }).waitFor(WAIT);
});

test('n opens who needs the person, one after the other; ? shows the keys, and not while somebody writes', async (t) => {
  await using rig = await statusRig();
  for (const name of ['ada', 'bo', 'cy']) rig.join(name);
  rig.poll('ada', 0);
  rig.poll('bo', 2);
  rig.poll('cy', 1, 1);
  await using opened = await open(t, rig, { bypassCSP: true });
  if (opened === null) return;
  const { page } = opened;
  for (const name of ['cy', 'bo', 'cy']) {
    await press(page, 'n');
    await page.locator('#view h1', { hasText: name }).waitFor(WAIT);
  }
  await press(page, 'Escape');
  await page.locator('.card').first().waitFor(WAIT);
  await press(page, '/');
  await page.keyboard.type('?n');
  assert.equal(await page.locator('#search').inputValue(), '?n');
  await press(page, 'Escape');
  await press(page, 'Escape');
  await press(page, '?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await dialog.waitFor(WAIT);
  assert.match(await readText(dialog), /n\s+Open the next inbox that needs you/);
  assert.deepEqual(await findAccessibilityFaults(page), []);
  await press(page, 'n');
  assert.equal(await page.evaluate('location.hash'), '#personas', 'an open dialog has its own keys');
  await press(page, 'Escape');
  await dialog.waitFor({ ...WAIT, state: 'hidden' });
});

test('six inboxes of one hive that is down are one error with its name, and one closed group that can be opened', async (t) => {
  await using rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 0);
  const fault = new Fault('refused', 'connect to http://127.0.0.1:7474 was refused', { is: 'source', key: 'team' });
  for (let i = 0; i < 6; i += 1) {
    const persona = `t-${i}`;
    rig.join(persona, persona, 'team');
    const at = Date.now();
    rig.board.put({ is: 'failed', at, persona, fault, health: { is: 'down', since: at, failures: 3, why: 'refused' } });
  }
  for (const javaScriptEnabled of [false, true]) {
    await using opened = await open(t, rig, { javaScriptEnabled });
    if (opened === null) return;
    const { page } = opened;
    assert.equal(await page.locator('.cause').count(), 1);
    assert.match(await readText(page.locator('.cause h2')), /^team for /);
    const text = await readText(page.locator('body'));
    assert.equal(text.split('was refused').length - 1, 1, text);
    assert.match(await readText(page.locator('.group', { hasText: 'team' })), /6 inboxes, cannot be read/);
    assert.deepEqual(await page.locator('.card h2').allTextContents(), ['ada']);
    if (!javaScriptEnabled) continue;
    await page.getByRole('button', { name: 'team' }).click();
    assert.equal(await page.locator('.card').count(), 7);
    await page.reload();
    await page.locator('.card[data-id="t-5"]').waitFor(WAIT);
    assert.equal(
      await page.getByRole('button', { name: 'team' }).getAttribute('aria-expanded'),
      'true',
      'it is remembered',
    );
    assert.equal((await readText(page.locator('body'))).split('was refused').length - 1, 1, 'no card repeats it');
  }
});

test('a card holds the newest message and its sender, with the token; without it only its age', async (t) => {
  await using rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 1, 1);
  await rig.mail('ada', 7);
  await using anyone = await open(t, rig);
  await using owner = await open(t, rig, {}, true);
  if (anyone === null || owner === null) return;
  await owner.page.locator('.card .line', { hasText: 'SECRET-TEXT 7' }).waitFor(WAIT);
  assert.match(await readText(owner.page.locator('.card')), /SECRET-SENDER \d+ (d|h|min|s) ago/);
  assert.match(await readText(owner.page.locator('.card')), /1 urgent/);
  assert.match(await readText(anyone.page.locator('.card')), /Last mail \d+ (d|h|min|s) ago/);
  assert.doesNotMatch(await anyone.page.content(), /SECRET/);
  const mail = { ...createMail('ada', 8), content: '<img src=x onerror="window.pwned=1">\nsecond line' };
  rig.board.put({ is: 'delivered', at: Date.now(), persona: 'ada', events: [mail] });
  await owner.page.locator('.card .line', { hasText: /^<img src=x onerror="window.pwned=1">$/ }).waitFor(WAIT);
  assert.deepEqual(owner.complaints, []);
});

test('order and filter are chosen, have counts without zeros, and are remembered', async (t) => {
  await using rig = await statusRig();
  for (const name of ['cy', 'bo', 'ada']) rig.join(name);
  rig.poll('ada', 0);
  rig.poll('bo', 2);
  rig.poll('cy', 1, 1);
  await using opened = await open(t, rig);
  if (opened === null) return;
  const { page } = opened;
  const names = (): Promise<string[]> => page.locator('.card h2').allTextContents();
  const filters = page.locator('#filters button:visible');
  assert.deepEqual(await filters.allTextContents(), ['All 3', 'Urgent 1', 'Unread 2']);
  assert.deepEqual(await names(), ['cy', 'bo', 'ada']);
  await page.getByLabel('Sort').selectOption('By name');
  assert.deepEqual(await names(), ['ada', 'bo', 'cy']);
  await page.getByRole('button', { name: 'Unread 2' }).click();
  await page.reload();
  await live(page);
  assert.deepEqual(await names(), ['bo', 'cy']);
  await press(page, 'Escape');
  assert.deepEqual(await names(), ['ada', 'bo', 'cy']);
});

test('an empty install shows three steps, each with a command to copy', async (t) => {
  await using rig = await statusRig();
  await using opened = await open(t, rig, { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true });
  if (opened === null) return;
  const { page } = opened;
  assert.equal(await page.locator('h1').textContent(), 'No inbox is watched yet');
  const steps = page.locator('.empty li');
  assert.equal(await steps.count(), 3);
  await steps.last().getByRole('button', { name: 'Copy' }).click();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'hivebar send --to ada --from me "hello"');
  assert.equal(await page.locator('#find').isVisible(), false);
  assert.deepEqual(await findAccessibilityFaults(page), []);
});

/** The sum of all layout shifts that no person caused. */
const MEASURE_SHIFT = `new Promise((done) => {
  new PerformanceObserver((list) => {
    done(list.getEntries().reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0));
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(0), 500);
})`;

test('seven cards do not jump while mail moves them', async (t) => {
  await using rig = await statusRig();
  const names = ['ada', 'bo', 'cy', 'di', 'eve', 'fay', 'gus'];
  for (const name of names) {
    rig.join(name);
    rig.poll(name, 0);
  }
  await using opened = await open(t, rig, {}, true);
  if (opened === null) return;
  const { page } = opened;
  for (const name of names.toReversed()) {
    rig.poll(name, 1);
    await rig.mail(name, 1);
    await page.locator(`.card[data-id="${name}"] .line`).waitFor(WAIT);
  }
  rig.poll('gus', 1, 1);
  await page.locator('.card:first-child[data-id="gus"]').waitFor(WAIT);
  const moved = Number(await page.evaluate(MEASURE_SHIFT));
  assert.ok(moved > 0 && moved <= 0.02, `${moved}`);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no accessibility fault, and no layout shift while mail moves the rows, ${colorScheme}, at 1280 and 390 px`, async (t) => {
    await using rig = await statusRig();
    crowd(rig, 60);
    rig.poll(formatName(3), 2, 1);
    rig.join('eve', 'Eve of the garden', 'garden');
    rig.down('eve', 'garden');
    for (const width of [1280, 390]) {
      await using opened = await open(t, rig, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true }, true);
      if (opened === null) return;
      const { page } = opened;
      const moving = formatName(width % 50);
      rig.poll(moving, 3, 1);
      await rig.mail(moving, 1);
      await page.locator(`.inbox-row[data-id="${moving}"]`, { hasText: 'SECRET-SENDER' }).waitFor(WAIT);
      const moved = Number(await page.evaluate(MEASURE_SHIFT));
      assert.ok(moved <= 0.02, `${moved} at ${width}`);
      assert.deepEqual(await findAccessibilityFaults(page), []);
      assert.equal(await measureOverflow(page), 0);
    }
  });
}
