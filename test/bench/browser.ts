import { type Browser, chromium } from 'playwright-core';
import { ms, quantile, type Sample } from './harness.ts';
import { until } from './rig.ts';

const LOADS = 9;

export function launchBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

/** From the start of the navigation to the first paint with content, in a browser that has nothing of the page yet. */
export async function measureFirstContent(browser: Browser, url: string): Promise<Sample> {
  const paint = async (address: string): Promise<number> => {
    await using context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(address, { waitUntil: 'commit' });
    // Asked over the debugging protocol, time and again: to wait inside the page is to evaluate a string there, which the
    // page's own policy forbids.
    const expression = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";
    return await until('the first paint', async () => (await page.evaluate(expression)) as number | null);
  };
  const took: number[] = [];
  const bare: number[] = [];
  await paint(url); // the browser's own first time is not the page's
  for (let i = 0; i < LOADS; i += 1) {
    took.push(await paint(url));
    bare.push(await paint('data:text/html,<p>hello'));
  }
  return {
    value: quantile(took, 0.5),
    note: `worst of ${LOADS} ${ms(Math.max(...took))}`,
    floor: { value: quantile(bare, 0.5), unit: 'ms', what: 'one word, no server' },
  };
}
