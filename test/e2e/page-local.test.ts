import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { ByPriority, OpenGate } from '../../core/board/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab } from '../kit/browser.ts';
import { type StatusRig, statusRig } from '../kit/status-rig.ts';
import { until } from '../kit/until.ts';

/** What the page shows of this machine's own hive beside its mail: priorities and open gates. */

let browser: Browser | null = null;
after(() => browser?.close());

async function open(t: TestContext, rig: StatusRig, options: BrowserContextOptions = {}) {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext({ colorScheme: 'light', ...options });
  t.after(() => context.close());
  const complaints: string[] = [];
  return { complaints, page: await openTab(context, rig.server.urls[0] ?? '', complaints) };
}

const local = (rig: StatusRig, persona: string, pending: ByPriority, gates: readonly OpenGate[] = []): void =>
  rig.board.put({ is: 'reported', at: Date.now(), persona, values: { pending, gates } });

const gate = (id: string, mode: 'strict' | 'soft', hook = 'Stop') => ({ id, hook, mode, description: `why ${id}` });

test('a card tells urgent and low mail by priority and the open gates, with and without JavaScript; both go again', async (t) => {
  await using rig = await statusRig();
  for (const name of ['ada', 'bo', 'cy']) rig.join(name);
  rig.poll('ada', 6, 3);
  rig.poll('bo', 4);
  local(rig, 'ada', [1, 2, 1, 2, 0], [gate('decision', 'strict'), gate('commit-push', 'soft')]);
  local(rig, 'bo', [0, 0, 4, 0, 0]);
  const marks = ['1 critical, 2 high', '2 low', 'Blocked at Stop by decision', 'Warned at Stop by commit-push'];
  for (const javaScriptEnabled of [false, true]) {
    const opened = await open(t, rig, { javaScriptEnabled });
    if (opened === null) return;
    const { page, complaints } = opened;
    if (javaScriptEnabled) await live(page);
    assert.deepEqual(await page.locator('.card[data-id="ada"] .marks > *').allTextContents(), marks);
    assert.equal(await page.locator('.card[data-id="bo"] .marks > *').count(), 0, 'all is normal');
    if (!javaScriptEnabled) continue;
    local(rig, 'ada', [0, 1, 0, 0, 0], [gate('commit-push', 'soft')]);
    await page.locator('.card[data-id="ada"] [data-slot="held"]').waitFor({ state: 'detached', timeout: 5000 });
    const now = await page.locator('.card[data-id="ada"] .marks > *').allTextContents();
    assert.deepEqual(now, ['1 high', 'Warned at Stop by commit-push']);
    local(rig, 'bo', [0, 0, 4, 0, 0], [gate('<img src=x onerror=window.pwned=1>', 'strict', '<b>Stop</b>')]);
    await page.locator('.card[data-id="bo"]', { hasText: 'Blocked at <b>Stop</b> by <img' }).waitFor({ timeout: 5000 });
    assert.equal(await page.evaluate('window.pwned'), undefined);
    assert.deepEqual(complaints, []);
  }
});

test('the view of an inbox has the priorities as a table, and each open gate with its hook and mode', async (t) => {
  await using rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 1006);
  local(rig, 'ada', [1, 0, 3, 1000, 2], [gate('decision', 'strict'), gate('dirty-work', 'soft', 'PreCompact')]);
  const opened = await open(t, rig, { bypassCSP: true });
  if (opened === null) return;
  const { page } = opened;
  await page.locator('.card[data-id="ada"] a').click();
  await page.locator('#gates li').nth(1).waitFor({ timeout: 5000 });
  const listGates = (): Promise<string[]> => page.locator('#gates li').allInnerTexts();
  // The style comes with the view, and with it a gate is two texts side by side.
  await until('the style of the view', async () => (await listGates())[0]?.includes('\n') === true);
  assert.deepEqual(await listGates(), ['decision\nblocks at Stop', 'dirty-work\nwarns at PreCompact']);
  const cells = await page.locator('#priorities').getByRole('cell').allTextContents();
  assert.deepEqual(cells, ['1', '0', '3', '1000+', '2']);
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    assert.equal(await measureOverflow(page), 0, `at ${width}`);
    assert.deepEqual(await findAccessibilityFaults(page), [], `at ${width}`);
  }
  local(rig, 'ada', [0, 0, 0, 0, 0]);
  await page.locator('#priorities').waitFor({ state: 'hidden', timeout: 5000 });
});
