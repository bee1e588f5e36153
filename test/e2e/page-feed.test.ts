import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createActions } from '../../app/actions/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab, press } from '../kit/browser.ts';
import { asks, says } from '../kit/decisions.ts';
import { type StatusRig, statusRig, TOKEN } from '../kit/status-rig.ts';

/** All mail, the search over it, and the decisions with their answers: real mail behind a real server, in a real browser. */

const WAIT = { timeout: 10_000 };
const HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';

let browser: Browser | null = null;
after(() => browser?.close());

async function open(
  t: TestContext,
  rig: StatusRig,
  hash: string,
  { token = true, ...options }: BrowserContextOptions & { token?: boolean } = {},
): Promise<{ page: Page; complaints: string[] } | null> {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext({ colorScheme: 'light', ...options });
  t.after(() => context.close());
  if (token) await context.addInitScript(`localStorage.setItem('hivebar-token', '${TOKEN}')`);
  const complaints: string[] = [];
  const page = await openTab(context, `${rig.server.urls[0] ?? ''}${hash}`, complaints);
  await live(page);
  return { page, complaints };
}

async function createRig(): Promise<StatusRig> {
  let rig: StatusRig | null = null;
  const decide: Parameters<typeof createActions>[0]['decide'] = (...reply) =>
    rig?.decisions.respond(...reply) ?? { is: 'none' };
  rig = await statusRig({ actions: createActions({ decide } as Parameters<typeof createActions>[0], realClock) });
  for (const name of ['ada', 'bo', 'zed']) {
    rig.join(name, name === 'ada' ? 'Ada' : name);
    rig.poll(name, 0);
  }
  return rig;
}

const rows = (page: Page) => page.locator('.mail-rows li:visible');
const send = (rig: StatusRig, content: string, urgent = false, to = 'ada') =>
  rig.hive.send({ to, from: 'bo', content, urgent });

test('all mail: who, to whom, how urgent, newest first; new mail comes by itself and older on demand; a row leads to its inbox', async (t) => {
  await using rig = await createRig();
  for (let i = 1; i <= 60; i += 1) await send(rig, `mail ${i}`, i === 60);
  const opened = await open(t, rig, '#feed');
  if (opened === null) return;
  const { page, complaints } = opened;
  await rows(page).nth(49).waitFor(WAIT);
  assert.match(
    (await rows(page).allInnerTexts())[0] ?? '',
    /^bo\s+to\s+→\s+Ada\s+Urgent\s+Unread\s+(just now|\d+ s ago)\s+mail 60$/,
  );
  assert.equal(await rows(page).count(), 50);
  await page.getByRole('button', { name: 'Show older' }).click();
  await rows(page).nth(59).waitFor(WAIT);
  assert.equal(await page.getByRole('button', { name: 'Show older' }).isVisible(), false);
  const { id } = await send(rig, 'fresh', false, 'zed');
  await rig.mail('zed', id); // the event about it
  await page.locator('.mail-rows li:first-child', { hasText: 'zed' }).waitFor(WAIT);
  assert.equal(await rows(page).count(), 61, 'each once, and none is lost');
  await page.getByRole('link', { name: 'mail 59' }).click();
  await page.locator('#view h1', { hasText: 'Ada' }).waitFor(WAIT);
  assert.match(page.url(), /#persona=ada&message=59$/);
  await page.locator('.mail[data-id="59"] .mail-open[aria-expanded="true"]').waitFor(WAIT);
  await page.goto(page.url().replace('message=59', 'message=2')); // beyond the newest page
  await page.locator('.mail[data-id="2"] .mail-open[aria-expanded="true"]').waitFor(WAIT);
  assert.deepEqual(complaints, []);
});

test('the search of the overview leads to messages with the words; each match is marked, and other words can be searched', async (t) => {
  await using rig = await createRig();
  await send(rig, 'The build is red.');
  await send(rig, `${'long '.repeat(300)}builder ${'hay '.repeat(300)}`);
  await send(rig, `lunch? ${HOSTILE}`);
  const opened = await open(t, rig, '');
  if (opened === null) return;
  const { page, complaints } = opened;
  await press(page, '/');
  await page.keyboard.type('build');
  await page.getByRole('link', { name: 'Search messages for “build”' }).click();
  await rows(page).nth(1).waitFor(WAIT);
  assert.deepEqual(await page.locator('.mail-rows mark').allTextContents(), ['builder', 'build']);
  assert.equal(new URL(page.url()).hash, '#search=build');
  await press(page, '/');
  await page.keyboard.type('onerror lunch');
  await press(page, 'Enter');
  await rows(page).filter({ hasText: 'lunch?' }).waitFor(WAIT);
  assert.equal(await rows(page).count(), 1);
  assert.equal(await page.locator('.mail-rows :is(img, script)').count(), 0);
  assert.equal(await page.evaluate('window.pwned'), undefined);
  await page.getByLabel('Search messages').fill('nowhere');
  await press(page, 'Enter');
  await page.getByText('No message has nowhere.').waitFor(WAIT);
  await page.goBack();
  await rows(page).filter({ hasText: 'lunch?' }).waitFor(WAIT);
  assert.deepEqual(complaints, []);
});

test('by keyboard: g m goes to all mail, j and k move, Enter opens, Escape goes back', async (t) => {
  await using rig = await createRig();
  for (const content of ['one', 'two', 'three']) await send(rig, content);
  const opened = await open(t, rig, '');
  if (opened === null) return;
  const { page } = opened;
  await page.locator('h1').first().click();
  await press(page, 'g');
  await press(page, 'm');
  await rows(page).nth(2).waitFor(WAIT);
  for (const key of ['j', 'j', 'j', 'k']) await press(page, key);
  assert.match(String(await page.evaluate('document.activeElement.innerText')), /two$/);
  await press(page, 'Enter');
  await page.locator('#view h1', { hasText: 'Ada' }).waitFor(WAIT);
  await press(page, 'Escape');
  await page.locator('#overview:visible').waitFor(WAIT);
});

test('decisions: those that are open come first, then the answered ones with who said what; one that is answered moves down', async (t) => {
  await using rig = await createRig();
  const tell = (): void => {
    const decisions = rig.decisions.list({ persona: null, onlyOpen: true, limit: 100 }).toReversed();
    rig.board.put({ is: 'decisions', at: Date.now(), decisions });
  };
  for (let i = 1; i <= 22; i += 1) {
    const { id } = rig.decisions.create(asks({ prompt: `Old ${i}?` }));
    rig.decisions.respond(
      id,
      says({ select: 'a', by: 'mia', ...(i === 22 ? { text: `not too fast ${HOSTILE}` } : {}) }),
    );
  }
  rig.decisions.create(asks({ prompt: 'Now?' }));
  tell();
  const opened = await open(t, rig, '#decisions');
  if (opened === null) return;
  const { page, complaints } = opened;
  const answered = page.locator('.answered li');
  await page.locator('#open-decisions .decision', { hasText: 'Now?' }).waitFor(WAIT);
  await answered.nth(19).waitFor(WAIT);
  assert.equal(await answered.count(), 20);
  assert.match(
    (await answered.allInnerTexts())[0] ?? '',
    /^Ada\s+asked\s+(just now|\d+ s ago)\s+Old 22\?\s+Answered by mia: the long way\s+Note: not too fast </,
  );
  await page.getByRole('button', { name: 'Show older' }).click();
  assert.equal(await answered.count(), 22);
  await page.locator('#open-decisions').getByRole('link', { name: 'Ada' }).focus();
  await press(page, '2');
  await page.locator('.said', { hasText: 'Answered by operator: the short way' }).waitFor(WAIT);
  tell();
  await answered.first().filter({ hasText: 'Now?' }).waitFor(WAIT);
  assert.match((await answered.allInnerTexts())[0] ?? '', /Answered by operator: the short way$/);
  await press(page, 'Escape');
  await page.locator('#overview:visible').waitFor(WAIT);
  assert.equal(await page.evaluate('window.pwned'), undefined);
  assert.deepEqual(complaints, []);
});

test('without the token nothing of the mail is shown; it comes when it is given', async (t) => {
  await using rig = await createRig();
  await send(rig, 'SECRET');
  const opened = await open(t, rig, '#feed', { token: false });
  if (opened === null) return;
  const { page } = opened;
  await page.getByRole('button', { name: 'Enter the token' }).click();
  assert.doesNotMatch(await page.content(), /SECRET/);
  await page.locator('#given').fill(TOKEN);
  await page.locator('#given').press('Enter');
  await rows(page).filter({ hasText: 'SECRET' }).waitFor(WAIT);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no accessibility fault and nothing too wide, ${colorScheme}: mail, search, decisions`, async (t) => {
    await using rig = await createRig();
    await send(rig, `urgent ${'W'.repeat(400)}`, true);
    await send(rig, `needle ${HOSTILE}`);
    const { id } = rig.decisions.create(asks({ prompt: 'W'.repeat(600) }));
    rig.decisions.respond(id, says({ text: 'W'.repeat(300), acceptGuidance: true }));
    for (const [hash, ready] of [
      ['#feed', '.mail-rows li'],
      ['#search=needle', '.mail-rows mark'],
      ['#search=nothing-of-this', '.place .soft:not(:empty)'],
      ['#decisions', '.answered li'],
    ] as const) {
      const opened = await open(t, rig, hash, { colorScheme, bypassCSP: true, reducedMotion: 'reduce' });
      if (opened === null) return;
      const { page } = opened;
      await page.locator(ready).first().waitFor(WAIT);
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await measureOverflow(page), 0, `${hash} at ${width}`);
        assert.deepEqual(await findAccessibilityFaults(page), [], `${hash} at ${width}`);
      }
    }
  });
}
