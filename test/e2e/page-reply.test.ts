import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { ActionTable } from '../../app/status/index.ts';
import { Fault } from '../../core/model/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab } from '../kit/browser.ts';
import { createMail, statusRig, TOKEN } from '../kit/status-rig.ts';
import { until } from '../kit/until.ts';

/** What a person writes to an agent on the page. */

let browser: Browser | null = null;
after(() => browser?.close());

const SAYS = 'sent, not confirmed: a session acknowledges nothing';
const TEXT = '  use the <b>other</b> branch\n--force';

test('reply: the page sends what was typed once, to the agent or to one message, and says how far it came', async (t) => {
  const sent: unknown[] = [];
  const release = Promise.withResolvers<void>();
  const actions: ActionTable = new Map([
    [
      'reply',
      {
        ...{ title: 'Reply as you', params: {}, asks: 'token' },
        run: async (params: unknown) => {
          sent.push(params);
          if (sent.length === 1) await release.promise;
          if (sent.length === 3) throw new Fault('usage', 'claude-1 has no socket', { is: 'machine', key: 'reply' });
          return { is: 'handed-over', says: SAYS };
        },
      },
    ],
  ]);
  await using rig = await statusRig({ actions });
  const join = (persona: string, canReply: boolean): void =>
    rig.board.put({
      ...{ is: 'joined', at: Date.now(), persona, source: 'x', address: persona, label: persona, stem: persona },
      ...{ eventsFile: null, lastEventId: null, staleAfterMs: 90_000, canReply },
    });
  join('ada', true);
  join('bo', false);
  for (const persona of ['ada', 'bo']) {
    const event = { ...createMail(persona, 1), message: 'gc-7' };
    const sink = rig.outbox.sinkFor(persona, persona);
    await sink.open();
    await sink.take([event], {}, new AbortController().signal);
    rig.board.put({ is: 'delivered', at: Date.now(), persona, events: [event] });
    rig.poll(persona, 1);
  }
  browser = await browserFor(t);
  if (browser === null) return;
  const context = await browser.newContext({ colorScheme: 'light', bypassCSP: true });
  t.after(() => context.close());
  await context.addInitScript(`localStorage.setItem('hivebar-token', '${TOKEN}')`);
  const complaints: string[] = [];
  const page = await openTab(context, `${rig.server.urls[0]}#ada`, complaints);
  await live(page);
  const form = page.locator('#reply');
  const box = form.locator('textarea');
  const done = page.locator('#done');
  await box.fill(TEXT);
  await form.getByRole('button', { name: 'Send' }).click();
  await until('it is sent', () => sent.length === 1);
  assert.equal(await box.isDisabled(), true, 'a second click sends nothing');
  release.resolve();
  await done.getByText(`Sent, not confirmed: a session acknowledges nothing.`).waitFor();
  assert.deepEqual(sent, [{ persona: 'ada', text: TEXT }]);
  assert.equal(await box.inputValue(), '');

  await page.locator('.mail-open').click();
  await page.getByRole('button', { name: 'Reply to message gc-7' }).click();
  assert.equal(await form.locator('.target').textContent(), 'To SECRET-SENDER, in answer to this message, from you');
  assert.deepEqual([await findAccessibilityFaults(page), await measureOverflow(page)], [[], 0]);
  await box.fill('Yes.');
  await box.press('Control+Enter');
  await until('it is sent', () => sent.length === 2);
  assert.deepEqual(sent[1], { persona: 'ada', text: 'Yes.', message: 'gc-7' });
  await form.getByText('To ada, from you', { exact: true }).waitFor();

  await box.fill('again');
  await form.getByRole('button', { name: 'Send' }).click();
  await done.getByText('claude-1 has no socket').waitFor();
  assert.equal(await box.inputValue(), 'again', 'what was not sent stays');
  assert.equal(sent.length, 3);

  await page.goto(`${rig.server.urls[0]}#bo`);
  await page.locator('#mails li').first().waitFor();
  assert.equal(await form.isVisible(), false);
  await page.locator('.mail-open').click();
  assert.equal(await page.getByRole('button', { name: 'Reply to message gc-7' }).count(), 0);
  assert.deepEqual(
    complaints.filter((line) => !line.includes('400')),
    [],
  );
});
