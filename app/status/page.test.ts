import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { buildPage } from '../../build/page.ts';
import { displayName } from '../../core/format/index.ts';
import type { AgentState } from '../../core/model/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab, press } from '../../test/kit/browser.ts';
import { createMail, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { loadPage } from './assets.node.ts';
import type { Asset } from './status-options.ts';
import type { StatusWire } from './wire.ts';

const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '"><script>window.pwned=1</script>',
  "' onmouseover='window.pwned=1",
  '</template><script>window.pwned=1</script>',
  '{{cards}} data-slot="name">',
  '&lt;b&gt; &amp; <b>bold</b>',
  'javascript:window.pwned=1',
  '\u202egnp.exe\u2066 \u0007 \u001b[31m',
  'ada\u200b',
  `$& $' $1 ${'long'.repeat(40)}`,
];

let browser: Browser | null = null;
after(() => browser?.close());

/** Opens the page and collects everything the browser complains of. */
async function open(t: TestContext, rig: StatusRig, options: BrowserContextOptions = {}) {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext({ colorScheme: 'light', ...options });
  const complaints: string[] = [];
  return { context, complaints, page: await tab(context, rig, complaints) };
}

const tab = (context: BrowserContext, rig: StatusRig, complaints: string[]): Promise<Page> =>
  openTab(context, rig.server.urls[0] ?? '', complaints);

/** What a person reads on the cards, without what only a script can do and without ages. */
const words = async (page: Page): Promise<string[]> =>
  (await page.locator('.card').allInnerTexts()).map((text) =>
    text
      .replaceAll(/\d+ s ago|just now|for \d+ s/g, 'AGE')
      .replace(/tail -n 0 -F \S+\s*$/, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );

function people(rig: StatusRig): void {
  for (const name of ['ada', 'bo', 'cy', 'di']) rig.join(name);
  rig.join('eve', 'Eve of the garden', 'garden');
  rig.poll('ada', 0);
  rig.poll('bo', 3, 1);
  rig.down('cy');
  rig.poll('eve', 12);
}

const putAgent = (rig: StatusRig, persona: string, state: AgentState): void =>
  rig.board.put({ is: 'agent', at: Date.now(), persona, reporter: 'session', state });

test('what agents do is on the page, those that wait first, with and without JavaScript, and the page follows', async (t) => {
  await using rig = await statusRig();
  people(rig);
  rig.poll('cy', 0);
  const since = Date.now() - 3 * 60_000;
  putAgent(rig, 'di', { is: 'waiting', why: 'permission', since, cwd: '/srv/work/hivebar', model: 'opus' });
  rig.poll('di', 0);
  putAgent(rig, 'eve', { is: 'working', since });
  const off = await open(t, rig, { javaScriptEnabled: false });
  const on = await open(t, rig);
  if (off === null || on === null) return;
  await live(on.page);
  for (const { page } of [off, on]) {
    assert.equal(await page.locator('h1').textContent(), '1\u00a0agent waits for you, 15\u00a0unread, 1\u00a0urgent');
    const all = await words(page);
    assert.match(
      all[1] ?? '',
      /^di Waits at a permission prompt, 3 min in hivebar with opus No mail yet/,
      'after urgent mail',
    );
    assert.match(all.join('\n'), /Eve of the garden Working, 3 min /);
    assert.match(await page.title(), /^1 agent waits for you, \(15\) Hivebar$/);
    assert.equal(await page.locator('.card[data-id="di"] use').getAttribute('href'), '#waiting', 'not by colour alone');
  }
  const elements = await on.page.locator('.card[data-id="di"] *').count();
  assert.equal(await on.page.locator('.card[data-id="ada"] *').count(), elements, 'a state costs no element');
  assert.equal(await on.page.getByRole('button', { name: 'Waiting 1' }).getAttribute('aria-pressed'), 'false');
  putAgent(rig, 'di', { is: 'working', since: Date.now() });
  await on.page.locator('.card[data-id="di"] [data-slot="state"]', { hasText: 'Working, ' }).waitFor({ timeout: 3000 });
  assert.equal(await on.page.locator('h1').textContent(), '15\u00a0unread, 1\u00a0urgent');
  putAgent(rig, 'ada', { is: 'waiting', why: 'input' });
  await on.page.locator('.card[data-id="ada"][data-look="waiting"]').waitFor({ timeout: 3000 });
  assert.match((await on.page.locator('#news').textContent()) ?? '', /waiting for you: ada/);
  assert.deepEqual(on.complaints, []);
  await on.context.close();
  await off.context.close();
});

test('a message shows its subject before its text; its link is no link of the page, and is opened by Hivebar', async (t) => {
  const asked: unknown[] = [];
  const openItem = {
    ...{ name: 'open-item', title: 'Open link', params: {}, asks: 'token' as const },
    run: async (params: unknown) => {
      asked.push(params);
      return { opened: 'url' };
    },
  };
  await using rig = await statusRig({ actions: new Map([['open-item', openItem]]) });
  rig.join('ada');
  rig.poll('ada', 1);
  const extras = { subject: 'Build <b>is</b> red\u202e', link: 'javascript:window.pwned=1' };
  const event = { ...createMail('ada', 7), event: 'question', ...extras } as const;
  const sink = rig.outbox.sinkFor('ada', 'ada');
  await sink.open();
  await sink.take([event], {}, new AbortController().signal);
  rig.board.put({ is: 'delivered', at: Date.now(), persona: 'ada', events: [event] });
  const opened = await open(t, rig);
  if (opened === null) return;
  const { page, complaints, context } = opened;
  await page.evaluate((token) => localStorage.setItem('hivebar-token', token), TOKEN);
  await page.goto(`${rig.server.urls[0]}#persona=ada`);
  await page.reload();
  const mail = page.locator('#mails li');
  await mail.locator('.mail-open').click({ timeout: 5000 });
  const shown = await mail.locator('p').allInnerTexts();
  assert.deepEqual(shown, ['Build <b>is</b> red\\u202e', event.content]);
  assert.equal(await mail.locator('a').count(), 0);
  assert.equal(
    await mail.locator('.mail-link').textContent(),
    'javascript:window.pwned=1',
    'a person sees where it leads',
  );
  await mail.getByRole('button', { name: 'Open the link of message 7' }).click();
  await page.locator('#done', { hasText: 'The link is open.' }).waitFor({ timeout: 5000 });
  assert.deepEqual(asked, [{ persona: 'ada', id: 7 }]);
  assert.deepEqual(await mail.locator('.mail-marks span').allTextContents(), ['Question']);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('without JavaScript the page says the same as with it', async (t) => {
  await using rig = await statusRig();
  people(rig);
  const off = await open(t, rig, { javaScriptEnabled: false });
  const on = await open(t, rig);
  if (off === null || on === null) return;
  await live(on.page);
  assert.deepEqual(await words(on.page), await words(off.page));
  assert.match((await words(off.page)).join('\n'), /^bo Up.*3 unread 1 urgent.*\ncy Down/);
  assert.equal(await off.page.locator('h1').textContent(), '15+\u00a0unread, 1+\u00a0urgent');
  assert.equal(await off.page.locator('.health').textContent(), '3/5 reachable');
  assert.equal(await off.page.locator('[data-slot="causeTitle"]').textContent(), 'local');
  assert.equal(await off.page.title(), await on.page.title());
  assert.equal(await off.page.locator('#find').isVisible(), false, 'what needs a script is not there');
  assert.match(
    (await off.page.locator('.card').allInnerTexts()).join('\n'),
    /tail -n 0 -F \/tmp\/hivebar\/events.cy.ndjson/,
  );
  await off.page.goto(`${rig.server.urls[0]}#persona=bo`);
  assert.equal(await off.page.locator(':target h2').textContent(), 'bo', 'a link to an inbox leads to its card');
  assert.deepEqual(on.complaints, []);
  await on.context.close();
  await off.context.close();
});

test('the page follows: mail, an outage and its end, a new persona and one that leaves', async (t) => {
  await using rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 0);
  const opened = await open(t, rig);
  if (opened === null) return;
  const { page, complaints, context } = opened;
  await live(page);
  const ada = page.locator('.card[data-id="ada"]');
  rig.poll('ada', 4);
  await ada.locator('[data-slot="unread"]', { hasText: /^4$/ }).waitFor({ timeout: 3000 });
  assert.match(await page.title(), /^\(4\) Hivebar$/);
  rig.down('ada');
  await page.locator('.cause').waitFor({ timeout: 3000 });
  assert.equal(await ada.getAttribute('data-look'), 'down');
  assert.match((await page.locator('#news').textContent()) ?? '', /down: ada/);
  rig.poll('ada', 0);
  await page.locator('.cause').waitFor({ state: 'detached', timeout: 3000 });
  assert.equal(await ada.getAttribute('data-look'), 'up', 'S2: also with nothing unread');
  rig.join('bo');
  await page.locator('.card[data-id="bo"]').waitFor({ timeout: 3000 });
  for (const persona of ['ada', 'bo']) rig.board.put({ is: 'left', at: Date.now(), persona });
  await page.locator('#empty').waitFor({ timeout: 3000 });
  assert.deepEqual(complaints, []);
  await context.close();
});

test('B6 hostile names and reasons are shown with nothing hidden and never run, with and without JavaScript', async (t) => {
  await using rig = await statusRig();
  for (const [i, text] of HOSTILE.entries()) {
    rig.join(text, `${text} #${i}`, text);
    rig.down(text, text);
  }
  for (const javaScriptEnabled of [true, false]) {
    const opened = await open(t, rig, { javaScriptEnabled });
    if (opened === null) return;
    const { page, context, complaints } = opened;
    if (javaScriptEnabled) {
      await live(page);
      rig.join('<i>later</i>', '<i onclick=1>later</i>');
      await page.locator('.card', { hasText: '<i onclick=1>later</i>' }).waitFor({ timeout: 3000 });
    }
    const names = await page.locator('.card [data-slot="name"]').allTextContents();
    for (const [i, text] of HOSTILE.entries()) assert.ok(names.includes(`${displayName(text)} #${i}`), text);
    const visible = await page.locator('.card [data-slot="reason"], [data-slot="causeText"]').allTextContents();
    for (const text of ['ada\\u200b', '\\u202egnp.exe\\u2066 \\u0007 \\u001b[31m'])
      assert.equal(visible.filter((shown) => shown.includes(text)).length, 1, `${text} as a cause, and only there`);
    const unseen = /(?!\n)\p{Cc}|\p{Cf}/u;
    for (const text of [...names, ...visible]) assert.doesNotMatch(text, unseen);
    assert.equal(await page.locator('.cause .card').count(), 0);
    assert.equal(await page.locator('.cards img, .cards script, .cards i, .cards b, .causes script').count(), 0);
    if (javaScriptEnabled) assert.equal(await page.evaluate('window.pwned'), undefined);
    assert.deepEqual(complaints, [], 'also no refusal by the policy: there was nothing to refuse');
    await context.close();
  }
});

test('the policy lets no inline code run, should some ever get in', async (t) => {
  await using rig = await statusRig();
  const opened = await open(t, rig);
  if (opened === null) return;
  const { page, context, complaints } = opened;
  await page.evaluate(`
    const script = document.createElement('script');
    try { script.textContent = 'window.pwned = 1'; } catch {}
    document.body.append(script);
    const image = document.createElement('img');
    image.setAttribute('src', 'http://evil.example.com/x.png');
    document.body.append(image);
  `);
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate('window.pwned'), undefined);
  assert.ok(complaints.some((text) => /Content Security Policy|Trusted/i.test(text)));
  await context.close();
});

test('S18: eight tabs of one browser load and update, over one stream, and the eighth gets the JSON', async (t) => {
  await using rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 1);
  const first = await open(t, rig);
  if (first === null) return;
  await first.page.close();
  const streams: string[] = [];
  first.context.on('request', (request) => {
    if (request.url().includes('/api/v1/stream')) streams.push(request.url());
  });
  const tabs: Page[] = [];
  for (let i = 0; i < 8; i += 1) tabs.push(await tab(first.context, rig, first.complaints));
  for (const page of tabs) await live(page);
  rig.poll('ada', 7);
  for (const page of tabs) {
    await page.locator('h1', { hasText: /^7\u00a0unread$/ }).waitFor({ timeout: 3000 });
  }
  assert.equal(streams.length, 1, 'one tab of all holds a stream');
  const unread = await tabs[7]?.evaluate(
    "fetch('/status.json').then((answer) => answer.json()).then((status) => status.totals.unread)",
  );
  assert.equal(unread, 7);
  // the tab that holds the stream goes: another takes over
  await tabs[0]?.close();
  rig.poll('ada', 9);
  for (const page of tabs.slice(1)) {
    await page.locator('h1', { hasText: /^9\u00a0unread$/ }).waitFor({ timeout: 5000 });
  }
  assert.deepEqual(first.complaints, []);
  await first.context.close();
});

test('a server that goes away is said to be gone, and the page is live again when it is back', async (t) => {
  const rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 2);
  const opened = await open(t, rig, { bypassCSP: true });
  if (opened === null) return rig[Symbol.asyncDispose]();
  await live(opened.page);
  const { port } = rig;
  await rig[Symbol.asyncDispose]();
  await opened.page.locator('#link[data-link="lost"]').waitFor({ timeout: 5000 });
  assert.equal(await opened.page.locator('.card').count(), 1, 'what was seen stays, with its age');
  await opened.page.locator('h1', { hasText: 'Not connected: Hivebar does not answer' }).waitFor({ timeout: 2000 });
  assert.match((await opened.page.locator('.aside').textContent()) ?? '', /^Last update \d\d:\d\d/);
  assert.equal(await opened.page.title(), 'Not connected · Hivebar');
  assert.equal(await opened.page.locator('.health').isVisible(), false, 'nothing is said to be reachable');
  assert.deepEqual(await findAccessibilityFaults(opened.page), [], 'also what is dimmed can be read');
  await using back = await statusRig({ port });
  back.join('bo');
  await live(opened.page);
  await opened.page.locator('h1', { hasText: 'Checking for the first time' }).waitFor({ timeout: 5000 });
  await opened.page.locator('.card[data-id="bo"]').waitFor({ timeout: 5000 });
  await opened.context.close();
});

test('where the token is asked for everywhere the page shows nothing until it is given, then follows, in every tab', async (t) => {
  await using rig = await statusRig({ tokenEverywhere: true });
  rig.join('zoe');
  rig.poll('zoe', 2);
  const opened = await open(t, rig);
  if (opened === null) return;
  const { page, context, complaints } = opened;
  const given = page.getByLabel('token');
  await given.waitFor({ timeout: 5000 });
  assert.doesNotMatch(await page.content(), /zoe/);
  assert.equal(await page.locator('#empty').isVisible(), false, 'who may not see does not say that nobody is there');
  await given.fill('not the token');
  await given.press('Enter');
  await page.locator('#link[data-link="closed"]').waitFor({ timeout: 5000 });
  assert.equal(await page.locator('.card').count(), 0);
  await given.fill(` ${TOKEN}\n`);
  await given.press('Enter');
  await live(page);
  assert.equal(await given.isVisible(), false);
  await page.waitForResponse((answer) => answer.url().includes('/api/v1/stream') && answer.status() === 200);
  rig.poll('zoe', 5);
  await page.locator('h1', { hasText: /^5\u00a0unread$/ }).waitFor({ timeout: 2000 });
  const second = await tab(context, rig, complaints);
  await live(second);
  assert.equal(await second.locator('.card').count(), 1);
  assert.deepEqual(
    complaints.filter((text) => !text.includes('401')),
    [],
  );
  await context.close();
});

test('a token kept from an earlier start is forgotten, also where none is asked for', async (t) => {
  await using rig = await statusRig();
  const opened = await open(t, rig);
  if (opened === null) return;
  await opened.page.evaluate("localStorage.setItem('hivebar-token', 'of yesterday')");
  await opened.page.reload();
  await live(opened.page);
  assert.equal(await opened.page.evaluate("localStorage.getItem('hivebar-token')"), null);
  assert.equal(await opened.page.locator('#token').isVisible(), false);
  await opened.context.close();
});

test('outages are logged with how long they took; who is hidden is on no card and in no log, with and without JavaScript', async (t) => {
  await using rig = await statusRig();
  for (const name of ['ada', 'bo', 'zed']) rig.join(name);
  rig.board.put({ is: 'hidden', at: Date.now(), persona: 'zed', hidden: true });
  rig.down('ada', 'http://127.0.0.1:1');
  rig.down('bo', 'http://127.0.0.1:2');
  rig.down('zed', 'http://127.0.0.1:3');
  rig.poll('bo', 0);
  const off = await open(t, rig, { javaScriptEnabled: false });
  const on = await open(t, rig);
  if (off === null || on === null) return;
  assert.deepEqual(await off.page.locator('.card h2').allTextContents(), ['ada', 'bo']);
  await live(on.page);
  await on.page.locator('#alerts summary', { hasText: '2, 1 open' }).click();
  const log = await on.page.locator('#alert-list li').allInnerTexts();
  assert.match(log.join('\n---\n'), /bo\n[\s\S]*127\.0\.0\.1:2[\s\S]*over after 0 s/);
  assert.match(log.join('\n---\n'), /ada\n[\s\S]*127\.0\.0\.1:1[\s\S]*ongoing for \d/);
  assert.doesNotMatch((await on.page.locator('body').allInnerTexts()).join(), /zed/);
  await on.page.getByRole('button', { name: 'Hidden 1' }).click();
  assert.deepEqual(await on.page.locator('.card h2').allTextContents(), ['zed']);
  assert.deepEqual(on.complaints, []);
  await on.context.close();
  await off.context.close();
});

test('numbers that are old say so', async (t) => {
  await using rig = await statusRig();
  rig.join('ada');
  const at = Date.now() - 300_000;
  const counts = { unread: { is: 'exact', n: 2 }, urgent: { is: 'exact', n: 0 } } as const;
  rig.board.put({ is: 'counted', at, counts: [{ persona: 'ada', ...counts }] });
  const opened = await open(t, rig);
  if (opened === null) return;
  assert.match(
    (await opened.page.locator('.card [data-slot="fresh"]').textContent()) ?? '',
    /checked 5 min ago, overdue/,
  );
  await opened.context.close();
});

test('keyboard: skip to the inboxes, search by /, move by arrows or j and k, open by Enter, back by Escape', async (t) => {
  await using rig = await statusRig();
  people(rig);
  const opened = await open(t, rig, { permissions: ['clipboard-read', 'clipboard-write'] });
  if (opened === null) return;
  const { page, context } = opened;
  await live(page);
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
  await press(page, 'Tab');
  assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
  await press(page, 'Enter');
  await press(page, 'Tab');
  assert.equal(await focused(), 'local', 'the heading of the first group');
  await press(page, 'j');
  assert.equal(await focused(), 'bo', 'what needs a person most');
  await press(page, 'j');
  assert.equal(await focused(), 'cy');
  await press(page, 'k');
  await press(page, 'ArrowRight');
  assert.equal(await focused(), 'cy');
  await press(page, '/');
  await page.keyboard.type('garden');
  assert.deepEqual(await page.locator('.card h2').allTextContents(), ['Eve of the garden']);
  await press(page, 'Escape');
  assert.equal(await page.locator('.card').count(), 5);
  await press(page, 'ArrowDown');
  assert.equal(await focused(), 'bo');
  await press(page, 'j');
  await press(page, 'Enter');
  await page.locator('#view h1', { hasText: 'cy' }).waitFor({ timeout: 3000 });
  assert.equal(await focused(), 'cy', 'the heading has the focus, for who listens');
  await page.locator('#view .set-up summary').focus();
  await press(page, 'Enter');
  await page.locator('#view .copy').focus();
  await press(page, 'Enter');
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'tail -n 0 -F /tmp/hivebar/events.cy.ndjson');
  await press(page, 'Escape');
  await page.locator('#view').waitFor({ state: 'hidden', timeout: 3000 });
  assert.equal(await focused(), 'cy', 'and is where it was');
  await context.close();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no accessibility fault is found, ${colorScheme}, wide and narrow, and nothing overflows`, async (t) => {
    await using rig = await statusRig();
    people(rig);
    for (const is of ['waiting', 'working', 'idle', 'stalled', 'gone'] as const) {
      rig.join(is);
      rig.poll(is, 0);
      putAgent(rig, is, { is, why: 'permission', since: Date.now(), cwd: `/srv/${'x'.repeat(200)}`, model: 'opus' });
    }
    for (const [i, text] of HOSTILE.entries()) {
      rig.join(text, text);
      if (i % 2 === 0) rig.poll(text, 1_234_567, 99);
      if (i % 2 === 0) putAgent(rig, text, { is: 'waiting', why: text, cwd: `/${text}`, model: text });
    }
    for (const width of colorScheme === 'light' ? [1280, 320] : [390]) {
      const opened = await open(t, rig, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
      if (opened === null) return;
      const { page, context } = opened;
      await live(page);
      assert.deepEqual(await findAccessibilityFaults(page), []);
      assert.equal(await measureOverflow(page), 0, `at ${width}`);
      await context.close();
    }
  });
}

test('with 100 personas the whole overview is under 150 KB, and shows what the JSON says', async (t) => {
  const out = mkdtempSync(join(tmpdir(), 'hb-page-'));
  t.after(() => rmSync(out, { recursive: true }));
  await buildPage(out);
  const page = loadPage(out);
  await using rig = await statusRig({ page });
  for (let i = 0; i < 100; i += 1) {
    rig.join(`agent-${i}`);
    rig.poll(`agent-${i}`, i);
  }
  const base = rig.server.urls[0] ?? '';
  const html = await (await fetch(base)).text();
  const status = (await (await fetch(`${base}status.json`)).json()) as StatusWire;
  assert.match(html, new RegExp(`data-slot="sentence">${status.totals.unread}\u00a0unread<`));
  const bytes = listFirst(page).reduce((sum, { body }) => sum + body.length, Buffer.byteLength(html));
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < 150_000, `${bytes}`);
});

/** The files that a browser loads with the overview: those of index.html, and what their scripts import at once. */
function listFirst({ files }: ReturnType<typeof loadPage>): readonly Asset[] {
  const names = new Set(['style.css', 'icon.svg', 'page.js']);
  for (const name of names) {
    const code = name.endsWith('.js') ? String(files.get(name)?.body) : '';
    for (const [, imported = ''] of code.matchAll(/(?:\bfrom|\bimport) ?["']\.\/([\w-]+\.js)["']/g))
      names.add(imported);
  }
  return [...names].map((name) => files.get(name) ?? assert.fail(name));
}

test('what is built for the package is the same page in fewer files', async (t) => {
  const out = mkdtempSync(join(tmpdir(), 'hb-page-'));
  t.after(() => rmSync(out, { recursive: true }));
  await buildPage(out);
  const page = loadPage(out);
  const names = [...page.files.keys()];
  for (const name of ['icon.svg', 'page.js', 'style.css', 'view.css', 'projects.css', 'uplot.js']) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(names.length < loadPage().files.size / 2, 'what is loaded together is one file');
  await using rig = await statusRig({ page });
  people(rig);
  const opened = await open(t, rig);
  if (opened === null) return;
  await live(opened.page);
  assert.equal(await opened.page.locator('.card').count(), 5);
  assert.deepEqual(opened.complaints, []);
  await opened.context.close();
});
