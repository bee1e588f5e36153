import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { browserFor, findAccessibilityFaults, live, openTab } from '../kit/browser.ts';
import { trayHome } from '../kit/tray-process.ts';

/** Where the keys lead, and what is on the page when they have led there. */
const VIEWS = [
  { keys: [], name: 'the overview', shown: '.card' },
  { keys: ['n'], name: 'the view of ada', shown: '#view .mail' },
  { keys: ['g', 'm'], name: 'all mail', shown: '#place-feed li' },
  { keys: ['g', 'd'], name: 'the decisions', shown: '#place-decisions' },
  { keys: ['g', 's'], name: 'the settings', shown: '#place-settings input' },
  {
    keys: ['g', 'i', '/', 'h', 'e', 'l', 'l', 'o'],
    name: 'a search in the overview',
    shown: '#overview a[href^="#search="]',
  },
] as const;

/** Every control that can be seen, each with a number of its own. */
const NUMBER_CONTROLS = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((control) => control.checkVisibility({ visibilityProperty: true }) && !control.disabled && control.tabIndex >= 0 && !control.closest('fieldset:disabled'))
  .filter((control) => control.type !== 'radio')
  .map((control, i) => { control.dataset.control = String(i); return control.outerHTML.slice(0, 160); })`;

test('each view is reached, and each of its controls, by the keyboard alone; each control has a name and shows its focus', async (t) => {
  const browser = await browserFor(t);
  if (browser === null) return;
  t.after(() => browser.close());
  using home = trayHome();
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await tray.post('/api/send', { to: 'ada', from: 'bo', content: 'hello ada', urgent: true });
  await tray.post('/api/send', { to: 'bo', from: 'ada', content: 'hello bo' });
  await home.run(['decision', 'create', '--as', 'bo', '--option', 'a=Keep', '--option', 'b=Drop', 'Keep it?']);
  await tray.until('all of it', ({ totals, decisions }) => totals.unread === 2 && decisions.length === 1);
  const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1280, height: 900 } });
  const complaints: string[] = [];
  const link = await home.run(['open', '--print']);
  const page = await openTab(context, /http:\S+/.exec(link.stdout + link.stderr)?.[0] ?? '', complaints);
  await live(page);
  const session = await context.newCDPSession(page);
  for (const { keys, name, shown } of VIEWS) {
    for (const key of keys) await page.keyboard.press(key);
    await page.locator(shown).first().waitFor();
    await page.locator('#place-feed .loading, [aria-busy="true"]').first().waitFor({ state: 'hidden' });
    assert.deepEqual(await listUnnamed(session), [], `without a name in ${name}`);
    assert.deepEqual(await findAccessibilityFaults(page), [], name);
    assert.deepEqual(await listUnreached(page), [], `not reached with Tab in ${name}`);
    await page.keyboard.press('Escape');
    await page.evaluate('document.activeElement.blur()');
  }
  assert.deepEqual(complaints, []);
});

interface AccessibleNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly backendDOMNodeId?: number;
}

const CONTROLS: ReadonlySet<string> = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch', 'DisclosureTriangle'],
]);

/** The controls of which a screen reader could say only what kind they are. */
async function listUnnamed(session: CDPSession): Promise<readonly string[]> {
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: readonly AccessibleNode[] };
  const controls = nodes.filter(({ ignored, role }) => !ignored && CONTROLS.has(role?.value ?? ''));
  assert.ok(controls.length > 3, 'there are controls');
  return controls
    .filter(({ name }) => (name?.value ?? '').trim() === '')
    .map(({ role, backendDOMNodeId }) => `${role?.value} ${backendDOMNodeId}`);
}

/** The number of the control with the focus, and whether it shows it: by itself or by what follows in it. */
const FOCUS = `(() => {
  const control = document.activeElement;
  const styles = [getComputedStyle(control), getComputedStyle(control, '::after')];
  return [control.dataset?.control ?? '', styles.some((style) => style.outlineStyle !== 'none' || style.boxShadow !== 'none')];
})()`;

/** Presses Tab until the focus has been everywhere. Returns the controls that it missed, and those that did not show it. */
async function listUnreached(page: Page): Promise<readonly string[]> {
  await page.evaluate('document.activeElement.blur()');
  const controls = (await page.evaluate(NUMBER_CONTROLS)) as readonly string[];
  const missing = new Map(controls.map((html, i) => [String(i), html]));
  for (let presses = 0; presses < controls.length * 2 + 10 && missing.size > 0; presses += 1) {
    await page.keyboard.press('Tab');
    const [number, isShown] = (await page.evaluate(FOCUS)) as [string, boolean];
    if (isShown) missing.delete(number);
  }
  return [...missing.values()];
}
