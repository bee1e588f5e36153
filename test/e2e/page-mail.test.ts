import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab, press } from '../kit/browser.ts';
import { statusRig } from '../kit/status-rig.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** The view of a persona as a person reads mail in it: the real tray process, its store, and Chromium. */

let browser: Browser | null = null;
let home: TrayHome | null = null;
let tray: TrayProcess | null = null;
after(async () => {
  await browser?.close();
  await tray?.[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
});

interface Opened {
  readonly tray: TrayProcess;
  readonly page: Page;
  readonly complaints: readonly string[];
}

async function open(
  t: TestContext,
  persona: string,
  write: (tray: TrayProcess) => Promise<void>,
): Promise<Opened | null> {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  home ??= trayHome();
  tray ??= await home.start();
  await write(tray);
  const context = await browser.newContext({ colorScheme: 'light', bypassCSP: true });
  t.after(() => context.close());
  await context.addInitScript(`localStorage.setItem('hivebar-token', '${tray.token}')`);
  const complaints: string[] = [];
  const page = await openTab(context, `${tray.url}/#persona=${persona}`, complaints);
  await page.locator('#mails li').first().waitFor({ timeout: 10_000 });
  return { tray, page, complaints };
}

const send = (on: TrayProcess, to: string, from: string, content: string, more: object = {}): Promise<unknown> =>
  on.post('/api/send', { to, from, content, ...more });

const findRow = (page: Page, text: string) => page.locator('#mails li', { hasText: text });
const act = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

test('all 120 messages of an inbox can be read, older ones on demand; opening one marks nothing', async (t) => {
  const opened = await open(t, 'ada', async (on) => {
    for (let n = 1; n <= 120; n += 1)
      await send(on, 'ada', 'ci', `build ${n} is done. See https://ci.example.org/${n}.`);
    await on.persona('ada', ({ unread }) => unread === 120);
  });
  if (opened === null) return;
  const { page, complaints } = opened;
  const rows = page.locator('#mails li');
  await until('the newest 50', async () => (await rows.count()) === 50);
  await act(page, 'Load older messages').click();
  await until('100', async () => (await rows.count()) === 100);
  await act(page, 'Load older messages').click();
  await until('all', async () => (await rows.count()) === 120);
  assert.equal(await act(page, 'Load older messages').isVisible(), false);
  await page.locator('#about', { hasText: /Uptime\s*24 h 100%/ }).waitFor({ timeout: 5000 });
  const row = rows.last();
  await row.locator('.mail-open').click();
  const link = row.locator('.mail-text a');
  assert.deepEqual(
    [await link.getAttribute('href'), await link.getAttribute('rel'), await row.locator('.mail-text').textContent()],
    ['https://ci.example.org/1', 'noreferrer noopener', 'build 1 is done. See https://ci.example.org/1.'],
  );
  await send(opened.tray, 'ada', 'ci', 'build 121 is done');
  await until('the new one', async () => (await rows.count()) === 121);
  assert.equal(await row.locator('.mail-text').isVisible(), true, 'what is open stays open');
  assert.equal((await opened.tray.persona('ada')).unread, 121);
  assert.deepEqual(complaints, []);
});

test('urgent and low mail is marked, unread is as in a mail program, and marks can be taken back', async (t) => {
  const opened = await open(t, 'bo', async (on) => {
    await send(on, 'bo', 'ci', 'main is red', { urgent: true });
    await send(on, 'bo', 'ops', 'the disk is full', { priority: 0 });
    await send(on, 'bo', 'audit', 'nightly report', { priority: 3 });
    await send(on, 'bo', 'zoe', 'hello');
    await on.persona('bo', ({ unread }) => unread === 4);
  });
  if (opened === null) return;
  const { page, tray: on, complaints } = opened;
  const marks = async (text: string): Promise<string[]> =>
    await findRow(page, text).locator('.mail-marks span').allTextContents();
  assert.deepEqual(await Promise.all(['main is red', 'disk is full', 'nightly', 'hello'].map(marks)), [
    ['Urgent'],
    ['Critical'],
    ['Low'],
    [],
  ]);
  const isBold = async (text: string): Promise<boolean> => {
    const row = `[...document.querySelectorAll('.mail')].find((row) => row.textContent.includes(${JSON.stringify(text)}))`;
    return Number(await page.evaluate(`getComputedStyle(${row}.querySelector('.mail-from')).fontWeight`)) >= 600;
  };
  const waitForUnread = async (n: number): Promise<void> => void (await on.persona('bo', ({ unread }) => unread === n));
  await until('the style of the view', async () => await isBold('hello'));
  const hello = findRow(page, 'hello');
  await hello.locator('.mail-open').click();
  await hello.locator('.mail-acts').getByText('Mark as read').click();
  await waitForUnread(3);
  await until('it is not bold', async () => !(await isBold('hello')));
  await page.locator('#done', { hasText: 'Marked as read.' }).waitFor();
  await act(page, 'Undo').click();
  await waitForUnread(4);
  await until('it is bold again', async () => await isBold('hello'));

  await act(page, 'Mark all as read').click();
  await waitForUnread(0);
  await page.locator('#done', { hasText: '4 messages marked as read.' }).waitFor();
  await act(page, 'Mark all as read').waitFor({ state: 'hidden' });
  await act(page, 'Undo').click();
  await waitForUnread(4);
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    assert.deepEqual([await measureOverflow(page), await findAccessibilityFaults(page)], [0, []], `at ${width}`);
  }
  assert.deepEqual(complaints, []);
});

test('a deleted message comes back with Undo; when the view is left it is deleted in the store', async (t) => {
  const opened = await open(t, 'cy', async (on) => {
    for (const text of ['first', 'second', 'third']) await send(on, 'cy', 'zoe', text);
    await on.persona('cy', ({ unread }) => unread === 3);
  });
  if (opened === null) return;
  const { page, tray: on } = opened;
  const remove = async (text: string): Promise<void> => {
    const row = findRow(page, text);
    if ((await row.locator('.mail-open').getAttribute('aria-expanded')) === 'false')
      await row.locator('.mail-open').click();
    await row.getByRole('button', { name: /^Delete message/ }).click();
    await row.waitFor({ state: 'detached' });
  };
  await remove('second');
  await act(page, 'Undo').click();
  await findRow(page, 'second').waitFor();
  assert.equal((await on.persona('cy')).unread, 3, 'nothing was deleted');
  await remove('second');
  await page.getByRole('link', { name: 'All inboxes' }).click();
  await on.persona('cy', ({ unread }) => unread === 2);
  const { result } = (await (
    await fetch(`${on.url}/api/inbox?persona=cy&mark_read=false`, { headers: { Authorization: `Bearer ${on.token}` } })
  ).json()) as { result: { content: string }[] };
  assert.deepEqual(
    result.map(({ content }) => content),
    ['third', 'first'],
  );
});

test('what a person writes arrives in the store as said by Hivebar; an answer goes to the sender and stands at the message', async (t) => {
  const opened = await open(t, 'di', async (on) => {
    await send(on, 'eve', 'di', 'which branch?');
    await send(on, 'di', 'eve', 'main or next?');
    await send(on, 'di', 'cron', 'tick');
    await on.persona('di', ({ unread }) => unread === 2);
  });
  if (opened === null) return;
  const { page, tray: on, complaints } = opened;
  const list = async (persona: string): Promise<readonly { from: string; content: string; origin?: string }[]> => {
    const answer = await fetch(`${on.url}/api/inbox?persona=${persona}&mark_read=false`, {
      headers: { Authorization: `Bearer ${on.token}` },
    });
    return ((await answer.json()) as { result: [] }).result;
  };
  const box = page.locator('#reply textarea');
  await box.fill('Please finish first.');
  await box.press('Control+Enter');
  await page.locator('#done', { hasText: 'Stored, not delivered: di gets it when it next reads its inbox.' }).waitFor();
  const [newest] = await list('di');
  assert.deepEqual([newest?.from, newest?.content, newest?.origin], ['operator', 'Please finish first.', 'hivebar']);
  await findRow(page, 'Please finish first.').locator('.mail-from', { hasText: 'You' }).waitFor();
  assert.equal((await on.persona('di')).unread, 2, 'it is unread for the agent, and not for the person');

  const tick = findRow(page, 'tick');
  await tick.locator('.mail-open').click();
  assert.equal(await tick.getByRole('button', { name: /^Reply/ }).count(), 0, 'cron has no inbox');
  const asked = findRow(page, 'main or next?');
  await asked.locator('.mail-open').click();
  await asked.getByRole('button', { name: /^Reply/ }).click();
  assert.match((await page.locator('#reply .target').textContent()) ?? '', /To eve, in answer to this message/);
  await box.fill('Next.');
  await page.locator('#reply').getByRole('button', { name: 'Send' }).click();
  await asked.locator('.mail-reply', { hasText: /You replied to eve[\s\S]*Next\./ }).waitFor();
  assert.deepEqual((await list('eve')).map(({ from, content }) => [from, content])[0], ['operator', 'Next.']);

  await box.fill('not sent yet');
  await page.getByRole('link', { name: 'All inboxes' }).click();
  await page.goBack();
  await findRow(page, 'tick').waitFor();
  assert.equal(await box.inputValue(), 'not sent yet');
  assert.deepEqual(complaints, []);
});

test('mail is read, marked, answered and deleted with the keyboard alone', async (t) => {
  const opened = await open(t, 'fay', async (on) => {
    await send(on, 'gus', 'fay', 'hi');
    for (const text of ['one', 'two', 'three']) await send(on, 'fay', 'gus', text);
    await on.persona('fay', ({ unread }) => unread === 3);
  });
  if (opened === null) return;
  const { page, tray: on, complaints } = opened;
  await live(page);
  const focused = async (): Promise<string> =>
    (await page.evaluate(
      'document.activeElement.closest("#mails > li")?.querySelector(".mail-summary").textContent',
    )) as string;
  await press(page, 'j');
  assert.equal(await focused(), 'three');
  await press(page, 'j');
  await press(page, 'j');
  await press(page, 'k');
  assert.equal(await focused(), 'two');
  await press(page, 'Enter');
  await findRow(page, 'two').locator('.mail-text').waitFor();
  await press(page, 'u');
  await on.persona('fay', ({ unread }) => unread === 2);
  await until('it is read', async () => (await findRow(page, 'two').getAttribute('data-flags')) === '');
  await press(page, 'u');
  await on.persona('fay', ({ unread }) => unread === 3);
  await press(page, 'r');
  await page.keyboard.type('Yes.');
  await press(page, 'Control+Enter');
  await findRow(page, 'two').locator('.mail-reply', { hasText: 'Yes.' }).waitFor();
  await findRow(page, 'three').locator('.mail-open').focus();
  await press(page, '#');
  await findRow(page, 'three').waitFor({ state: 'detached' });
  assert.equal(await focused(), 'two', 'the next message has the focus');
  await press(page, 'z');
  await findRow(page, 'three').waitFor();
  assert.equal(await focused(), 'three');
  await press(page, '#');
  await findRow(page, 'three').waitFor({ state: 'detached' });
  await press(page, 'Escape');
  await page.locator('#overview').waitFor();
  await on.persona('fay', ({ unread }) => unread === 2);
  assert.deepEqual(complaints, []);
});

test('an alarm about ada stands on the page of ada, and not on that of bo, to whom it was delivered', async (t) => {
  await using rig = await statusRig();
  for (const name of ['ada', 'bo']) {
    rig.join(name);
    rig.poll(name, 1);
  }
  const sink = rig.outbox.sinkFor('bo', 'bo');
  await sink.open();
  const alarm = {
    ...{ event: 'alert', source: 'kijito-inbox', ts: '2026-06-20T10:00:00.000000+00:00', persona: 'bo' },
    ...{ reason: 'urgent-unanswered', urgent_unanswered: ['ada'], urgent_unanswered_write_only: [] },
    ...{ event_id: 'bo:alert:r1:1', wake_class: 'actionable' },
  };
  const outage = {
    ...{ event: 'alert', source: 'kijito-inbox', ts: '2026-06-20T09:00:00.000000+00:00', persona: 'bo' },
    ...{ reason: 'unreachable', consecutive_failures: 3, event_id: 'bo:alert:r1:2', wake_class: 'actionable' },
  };
  await sink.take([alarm, outage] as never, {}, new AbortController().signal);
  browser ??= await browserFor(t);
  if (browser === null) return;
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await openTab(context, `${rig.server.urls[0]}#persona=bo`, []);
  await page.locator('#events li', { hasText: 'Down after 3 failures' }).waitFor({ timeout: 5000 });
  assert.equal(await page.locator('#events', { hasText: 'Urgent mail' }).count(), 0);
  await page.goto(`${rig.server.urls[0]}#persona=ada`);
  await page.locator('#events li', { hasText: 'Urgent mail is unread' }).waitFor({ timeout: 5000 });
  assert.equal(await page.locator('#events', { hasText: 'Down after' }).count(), 0);
});
