import { setTimeout as sleep } from 'node:timers/promises';
import { openCountingReader } from '../kit/stream-bytes.ts';
import { launchBrowser, measureFirstContent } from './browser.ts';
import { bench, goals, type Sample } from './harness.ts';
import { listNames, localHome, measureCost, post, startTray, untilArmed } from './rig.ts';

const BYTES = 150 * 1024;
const CPU_PERCENT = 0.5;
const CPU_SECONDS = 60;

export const benches = [
  goals([{ name: 'page: first content over loopback, 100 personas', unit: 'ms', bar: 250 }], () => firstContent(100)),
  goals([{ name: 'page: first content over loopback, 1,000 personas', unit: 'ms', bar: 300 }], () =>
    firstContent(1000),
  ),
  goals(
    [
      { name: 'page: interaction to next paint, 1,000 personas, 20 changes a second', unit: 'ms', bar: 100 },
      { name: 'page: layout shift, 1,000 personas, 20 changes a second', unit: 'of the window', bar: 0.02 },
    ],
    interact,
  ),
  bench('page: all bytes, 100 personas', '<= 150 KB', countBytes),
  bench('page: bytes per change to one tab, 1,000 personas', '<= 5 KB', countChangeBytes),
  bench('CPU, 100 personas, nothing happening, page open', '<= 0.5 % of a core', idle),
];

/** The packed program with personas that are all watched. */
async function watched(count: number) {
  const names = listNames(count);
  const home = localHome(names);
  const tray = await startTray(home);
  await untilArmed(home, names);
  return tray;
}

async function firstContent(personas: number): Promise<readonly Sample[]> {
  await using tray = await watched(personas);
  await using browser = await launchBrowser();
  return [await measureFirstContent(browser, `http://127.0.0.1:${tray.port}/`)];
}

async function countBytes() {
  await using tray = await watched(100);
  await using browser = await launchBrowser();
  const page = await browser.newPage();
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
  return { figure: `${(bytes / 1024).toFixed(0)} KB`, floor: 'none', met: bytes <= BYTES };
}

const MAILS = 5;
const CHANGE_BYTES = 5 * 1024;

/** One mail after the other, each when the tab has what the one before changed. The floor is the whole status. */
async function countChangeBytes() {
  await using tray = await watched(1000);
  const names = listNames(1000);
  using tab = openCountingReader(tray.port, tray.token, true);
  const whole = await tab.take('the whole status', (text) => /event: newest\ndata: .*\n\n/.test(text));
  let most = 0;
  for (let i = 1; i <= MAILS; i += 1) {
    await post(tray.port, tray.token, '/api/send', { to: names[i * 37], from: 'bench', content: `mail number ${i}` });
    const bytes = await tab.take(
      'the mail',
      (text) => text.includes(`mail number ${i}`) && text.includes('event: change'),
    );
    most = Math.max(most, bytes);
  }
  return {
    figure: `${(most / 1024).toFixed(1)} KB`,
    floor: `${(whole / 1024).toFixed(0)} KB for the whole status`,
    met: most <= CHANGE_BYTES,
  };
}

const CHANGES_PER_SECOND = 20;
/** Search, then the list, as a person at the keyboard uses them. */
const KEYS = ['/', 'p', 'e', 'r', 'Escape', 'j', 'j', 'k', 'j', 'j'];
const ROUNDS = 4;

/** The slowest of all interactions, and the sum of all shifts, while mail comes for one persona after the other. */
async function interact(): Promise<readonly Sample[]> {
  await using tray = await watched(1000);
  await using browser = await launchBrowser();
  const page = await browser.newPage();
  await page.addInitScript(`
    localStorage.setItem('hivebar-token', '${tray.token}');
    globalThis.slowest = 0;
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) slowest = Math.max(slowest, duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: true });
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;
    }).observe({ type: 'layout-shift', buffered: true });
  `);
  await page.goto(`http://127.0.0.1:${tray.port}/`);
  await page.locator('#link[data-link="live"]').waitFor();
  const stop = new AbortController();
  const names = listNames(1000);
  const sending = (async () => {
    for (let i = 0; !stop.signal.aborted; i += 1) {
      await post(tray.port, tray.token, '/api/send', {
        to: names[(i * 37) % 1000],
        from: 'bench',
        content: `mail ${i}`,
      });
      await sleep(1000 / CHANGES_PER_SECOND);
    }
  })();
  await sleep(6000); // a shift soon after a key is not counted
  let pressed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const key of KEYS) {
      await page.keyboard.press(key);
      pressed += 1;
      await sleep(150);
    }
  }
  stop.abort();
  await sending;
  const [slowest, shift] = (await page.evaluate('[slowest, shift]')) as [number, number];
  return [{ value: slowest, note: `the slowest of ${pressed} keys; below 16 ms none is counted` }, { value: shift }];
}

/** CPU of the program while the page is open and no mail comes; the polls of a hundred inboxes go on. */
async function idle() {
  await using tray = await watched(100);
  await using browser = await launchBrowser();
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${tray.port}/`);
  await page.locator('#link[data-link="live"]').waitFor();
  await sleep(20_000); // until V8 has tidied up after the start
  const open = await measureCost(tray.pid, CPU_SECONDS * 1000);
  await page.close();
  const alone = await measureCost(tray.pid, CPU_SECONDS * 1000);
  return {
    figure: `${open.percent.toFixed(2)} % over ${CPU_SECONDS} s`,
    floor: `${alone.percent.toFixed(2)} % with no page open`,
    met: open.percent <= CPU_PERCENT,
  };
}
