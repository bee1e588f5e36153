/**
 * `npm run screenshots [-- FOLDER]`: the pictures of the documents, taken of the real program with `hivebar demo` on a real
 * panel, a real notification daemon and a real browser. Needs the Debian packages of the desktop tests and ImageMagick.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openHistory } from '../core/history/index.ts';
import { exactly, Fault } from '../core/model/index.ts';
import { realFiles, silentLog } from '../core/ports/index.ts';
import { createCodexHome } from '../test/kit/codex-queue.ts';
import { type Desktop, startDesktop } from '../test/kit/desktop/index.ts';
import { fakeClock } from '../test/kit/fake-clock.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../test/kit/tray-process.ts';
import { captureBoardScreenshots } from './board-screenshots.ts';
import { captureDaemonScreenshots } from './daemon-screenshots.ts';
import { startExampleAgents } from './example-agents.ts';
import { captureHarnessScreenshots } from './harness-screenshots.ts';
import { captureGuideOverviews } from './overview-screenshots.ts';
import { capturePageScreenshots } from './page-screenshots.ts';
import { type Area, saveScreenshot } from './screenshot.ts';

const run = promisify(execFile);
const CHROMIUM = '/usr/bin/chromium';
const SCREEN_WIDTH = 1280;
/** The middle of the only icon: the panel is 32 pixels high and the tray stands at its right end. */
const ICON = { x: SCREEN_WIDTH - 16, y: 16 };
const SESSION = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'XDG_RUNTIME_DIR', 'XDG_CURRENT_DESKTOP'];
/** Notifications as a person has them, not as the tests press them. */
const DUNSTRC = `[global]
    width = 360
    height = 200
    origin = top-right
    offset = 12x44
    font = DejaVu Sans 10
    format = "<b>%s</b>\\n%b"
    word_wrap = yes
    max_icon_size = 32
    padding = 12
    horizontal_padding = 14
    frame_width = 1
    frame_color = "#4a4f58"
    separator_height = 1
    separator_color = frame
    show_indicators = no
    idle_threshold = 0
    show_age_threshold = -1
[urgency_normal]
    background = "#26292f"
    foreground = "#f0ede7"
    timeout = 0
[urgency_critical]
    background = "#26292f"
    foreground = "#f0ede7"
    frame_color = "#f2b84b"
    timeout = 0
`;
/** Of the screen: the panel's end and five banners. */
const BANNERS: Area = { width: 400, height: 412 };
/** Or the menu. */
const MENU: Area = { width: 620, height: 510 };
/** And what is behind a row of it: of a decision, of a persona. */
const DECISION: Area = { width: 1020, height: 510 };
const PERSONA: Area = { width: 1060, height: 510 };
const folder = process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'img');

/** A notification daemon of our own; the pictures wait for its first banner. */
function startDunst(desktop: Desktop): AsyncDisposable {
  const settings = join(desktop.env.XDG_CONFIG_HOME ?? '', 'dunstrc');
  writeFileSync(settings, DUNSTRC);
  const dunst = spawn('dunst', ['-conf', settings], { env: { ...desktop.env }, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => dunst.once('close', () => resolve()));
  return {
    [Symbol.asyncDispose]: async () => {
      dunst.kill();
      await ended;
    },
  };
}

async function shoot(desktop: Desktop, name: string, corner: Area): Promise<void> {
  const whole = join(folder, `.whole-${name}`);
  await sleep(400); // the panel draws what it was told
  await desktop.screenshot(whole);
  await saveScreenshot(whole, folder, name, corner);
}

const HOUR = 3_600_000;
/** Hours ago, and how many were unread from then on; of dora also an outage. */
const DAY: Readonly<Record<string, readonly (readonly [hoursAgo: number, unread: number])[]>> = {
  ada: [
    [23, 0],
    [21, 3],
    [19, 1],
    [18, 0],
    [13, 2],
    [11, 5],
    [10, 0],
    [7, 1],
    [4, 4],
    [3, 2],
    [1.5, 0],
  ],
  bo: [
    [23, 1],
    [22, 0],
    [15, 2],
    [12, 1],
    [9, 0],
    [5, 3],
    [2, 0],
  ],
  cyrus: [
    [23, 4],
    [20, 6],
    [17, 2],
    [16, 0],
    [8, 1],
    [6, 3],
    [3, 5],
    [1, 0],
  ],
  dora: [
    [23, 0],
    [14, 1],
    [13, 0],
    [6, 2],
    [5, 0],
  ],
};
const OUTAGE = { from: 8.5, to: 7.5 };

/** A day that was, made up: the program itself has only seconds to tell of. */
async function writeDay(home: TrayHome): Promise<void> {
  const clock = fakeClock(Date.now() - 24 * HOUR);
  using history = openHistory({
    path: home.at('history.sqlite'),
    files: realFiles,
    clock,
    log: silentLog,
    keepDays: 30,
  });
  const stop = new AbortController();
  void history.service.run(stop.signal);
  const fault = new Fault('timeout', 'http://127.0.0.1:7474 did not answer within 5 s', { is: 'source', key: 'local' });
  const begin = clock.now();
  for (const persona of Object.keys(DAY)) history.hear({ is: 'joined', at: begin, persona });
  for (let hour = 24; hour > 0; hour -= 1 / 12) {
    const at = clock.now();
    for (const [persona, steps] of Object.entries(DAY)) {
      const unread = steps.findLast(([ago]) => ago >= hour)?.[1] ?? 0;
      const isDown = persona === 'dora' && hour <= OUTAGE.from && hour > OUTAGE.to;
      if (isDown) {
        const health = { is: 'down', since: begin + (24 - OUTAGE.from) * HOUR, failures: 3, why: 'timeout' } as const;
        history.hear({ is: 'failed', at, persona, health: health, fault });
      } else {
        const health = { is: 'up', since: begin } as const;
        history.hear({ is: 'polled', at, persona, health: health, unread: exactly(unread), urgent: exactly(0) });
      }
    }
    await clock.advance(HOUR / 12);
  }
  stop.abort();
}

/** The program on a desktop, and then `hivebar demo`: mail that came before the program is no news. */
async function startTray(desktop: Desktop, home: TrayHome, codexHome: string): Promise<TrayProcess> {
  const session = Object.fromEntries(SESSION.map((name) => [name, desktop.env[name] ?? '']));
  // Somebody is there already, so that nobody is greeted.
  await home.run(['send', '--to', 'dora', '--from', 'bo', 'Rebase is done.']);
  await home.run(['inbox', 'read', 'dora']);
  await writeDay(home);
  const tray = await home.start([], { ...home.env, ...session, CODEX_HOME: codexHome });
  await desktop.tray.waitLabel(/^dora - Working, 2 min$/);
  await home.run(['demo']);
  await tray.until('the demo', ({ totals, decisions }) => totals.unread === 7 && decisions.length === 1);
  await desktop.tray.waitLabel(/^1 question for you, 1 agent waits for you, 7 unread, 1\+ urgent$/);
  return tray;
}

async function startPanel(
  theme: 'dark' | 'light',
  shots: (desktop: Desktop, tray: TrayProcess) => Promise<void>,
): Promise<void> {
  await using desktop = await startDesktop({ theme, notify: 'none' });
  await using _dunst = startDunst(desktop);
  const wall = theme === 'dark' ? '#3d4654' : '#c3cad4';
  // It draws, and ends with 1 all the same.
  await run('display', ['-window', 'root', '-size', '1280x800', `xc:${wall}`], { env: desktop.env }).catch(() => {});
  using home = trayHome();
  using codex = createCodexHome();
  using _agents = startExampleAgents(home, codex);
  await using tray = await startTray(desktop, home, codex.home);
  await shots(desktop, tray);
}

async function openMenu(desktop: Desktop): Promise<void> {
  for (const { id } of await desktop.notifications.open()) await desktop.notifications.close(id);
  await desktop.press(ICON.x, ICON.y, 3);
}

/** The entries behind a row, by the keys of an open menu. The first row is what somebody asks, the next is of a persona. */
async function press(desktop: Desktop, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await run('xdotool', ['key', key], { env: desktop.env });
}

async function capturePages(tray: TrayProcess): Promise<void> {
  await capturePageScreenshots({
    ...{ folder, executablePath: CHROMIUM, tray },
    views: [
      { name: 'page-light.png', colorScheme: 'light', viewport: { width: 1120, height: 1390 } },
      { name: 'page-dark.png', colorScheme: 'dark', viewport: { width: 1120, height: 1390 } },
      { name: 'page-narrow.png', colorScheme: 'dark', viewport: { width: 390, height: 1170 } },
      { name: 'page-persona.png', colorScheme: 'light', viewport: { width: 1120, height: 1240 } },
    ],
    async show(page, { name }) {
      if (name === 'page-persona.png') {
        await page.goto(`${tray.url}/#persona=ada`);
        await page.locator('.mail').first().waitFor();
        await page.locator('#chart canvas').waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        await page.locator('.mail-text').first().waitFor();
      } else {
        await page.goto(`${tray.url}/`);
        await page.locator('.card [data-slot="from"]').first().waitFor();
      }
      await page.locator('.decision button').first().waitFor();
    },
  });
}

mkdirSync(folder, { recursive: true });
await startPanel('dark', async (desktop, tray) => {
  await desktop.notifications.wait(/^cyrus/);
  await desktop.notifications.wait(/^ada asks/);
  await desktop.notifications.wait(/^bo waits/);
  await shoot(desktop, 'notifications.png', BANNERS);
  await openMenu(desktop);
  await shoot(desktop, 'tray-menu-dark.png', MENU);
  await press(desktop, 'Down', 'Right');
  await shoot(desktop, 'tray-decision-dark.png', DECISION);
  await press(desktop, 'Left', 'Down', 'Right');
  await shoot(desktop, 'tray-persona-dark.png', PERSONA);
  await capturePages(tray);
});
await startPanel('light', async (desktop) => {
  await openMenu(desktop);
  await shoot(desktop, 'tray-light.png', MENU);
  await press(desktop, 'Down', 'Down', 'Right');
  await shoot(desktop, 'tray-persona-light.png', PERSONA);
});
await captureGuideOverviews(folder, CHROMIUM);
await captureBoardScreenshots(folder, CHROMIUM);
await captureDaemonScreenshots(folder, CHROMIUM);
await captureHarnessScreenshots(folder, CHROMIUM);
