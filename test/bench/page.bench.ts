import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { bench, ms, quantile } from './harness.ts';
import { fileText, readCpuMs, startTray, temporary, until } from './rig.ts';

const PERSONAS = 100;
const CONTENT_MS = 300;
const BYTES = 150 * 1024;
const CPU_PERCENT = 0.5;
const CPU_SECONDS = 60;

export const benches = [
  bench('page: first content over loopback, 100 personas; total bytes', '<= 300 ms; <= 150 KB', firstContent),
  bench('CPU, 100 personas, nothing happening, page open', '<= 0.5 % of a core', idle),
];

/** The packed program with a hundred personas that are all watched. */
async function hundred() {
  const home = temporary();
  mkdirSync(join(home, 'hivebar'), { recursive: true, mode: 0o700 });
  const names = Array.from({ length: PERSONAS }, (_, i) => `persona-${String(i).padStart(4, '0')}`);
  {
    using db = openDatabase(join(home, 'hivebar', 'hivebar.sqlite'));
    using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
    for (const to of names) void hive.send({ to, from: 'bench', content: 'first', urgent: false });
  }
  const tray = await startTray(home);
  for (const name of names) {
    const path = join(home, 'hivebar', 'events', `events.${name}.ndjson`);
    await until(`armed of ${name}`, () => fileText(path)?.includes('"armed"'));
  }
  return tray;
}

function launch(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

/** From the start of the navigation to the first paint with content, in a browser that has nothing of the page yet. */
async function firstContent() {
  await using tray = await hundred();
  const browser = await launch();
  try {
    const paint = async (url: string): Promise<number> => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(url);
      const at = await page.waitForFunction("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
      const took = Number(await at.jsonValue());
      await context.close();
      return took;
    };
    const context = await browser.newContext();
    const page = await context.newPage();
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (answer) => {
      const { pathname } = new URL(answer.url());
      if (pathname !== '/' && !pathname.startsWith('/assets/')) return;
      const body = answer.body();
      body.catch(() => {}); // one that comes while the page is closed is nobody's
      bodies.push(body);
    });
    await page.goto(`http://127.0.0.1:${tray.port}/`);
    await page.locator('#link[data-link="live"]').waitFor();
    await page.waitForLoadState('load');
    const bytes = (await Promise.all(bodies)).reduce((sum, { length }) => sum + length, 0);
    await context.close();
    const took: number[] = [];
    const bare: number[] = [];
    await paint(`http://127.0.0.1:${tray.port}/`); // the browser's own first time is not the page's
    for (let i = 0; i < 9; i += 1) {
      took.push(await paint(`http://127.0.0.1:${tray.port}/`));
      bare.push(await paint('data:text/html,<p>hello'));
    }
    const p50 = quantile(took, 0.5);
    return {
      figure: `${ms(p50)}, worst of 9 ${ms(Math.max(...took))}; ${(bytes / 1024).toFixed(0)} KB`,
      floor: `${ms(quantile(bare, 0.5))} one word, no server`,
      met: p50 <= CONTENT_MS && bytes <= BYTES,
    };
  } finally {
    await browser.close();
  }
}

/** CPU of the program while the page is open and no mail comes; the polls of a hundred inboxes go on. */
async function idle() {
  await using tray = await hundred();
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${tray.port}/`);
    await page.locator('#link[data-link="live"]').waitFor();
    await sleep(20_000); // until V8 has tidied up after the start
    const open = await measureCpuPercent(tray.pid);
    await page.close();
    const alone = await measureCpuPercent(tray.pid);
    return {
      figure: `${open.toFixed(2)} % over ${CPU_SECONDS} s`,
      floor: `${alone.toFixed(2)} % with no page open`,
      met: open <= CPU_PERCENT,
    };
  } finally {
    await browser.close();
  }
}

async function measureCpuPercent(pid: number): Promise<number> {
  const from = performance.now();
  const before = readCpuMs(pid);
  await sleep(CPU_SECONDS * 1000);
  return ((readCpuMs(pid) - before) / (performance.now() - from)) * 100;
}
