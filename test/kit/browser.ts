import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { needs } from './require.ts';

const PATH = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** A headless Chromium, or null when there is none and the test must return at once. */
export async function browserFor(t: TestContext): Promise<Browser | null> {
  if (PATH === undefined) {
    needs(t, 'chromium is missing: apt-get install chromium');
    return null;
  }
  // no sandbox and no shared memory: in a container neither is to be had, and only our own page is opened
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  return await chromium.launch({ executablePath: PATH, args });
}

/** Opens `url` in a tab of its own. Everything the browser complains of is added to `complaints`, refusals by the policy too. */
export async function openTab(context: BrowserContext, url: string, complaints: string[]): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (e) => console.error('refused by the policy: ' + e.violatedDirective))",
  );
  await page.goto(url);
  return page;
}

/** Until the page says that it follows. */
export const live = (page: Page): Promise<void> => page.locator('#link[data-link="live"]').waitFor({ timeout: 10_000 });

/** Presses a key, and waits for what the page makes of it: a view, or a section that opens, comes a turn later. */
export async function press(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
}

/** What axe finds fault with, one line each. The context must be made with `bypassCSP`, or the policy keeps axe out. */
export async function findAccessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const found = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return found.violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 300)}`);
}

/** Pixels by which the page is wider than its window. */
export async function measureOverflow(page: Page): Promise<number> {
  const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  return Math.max(0, Number(await page.evaluate(wider)));
}
