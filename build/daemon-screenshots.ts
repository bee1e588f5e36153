/** `node build/daemon-screenshots.ts [FOLDER]`: the pictures of persona daemons, of real ones in a real browser. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConfig, installIn, startDaemon } from '../test/kit/daemon-board.ts';
import { trayHome } from '../test/kit/tray-process.ts';
import { referenceUpstream } from '../test/kit/upstream/index.ts';
import { capturePageScreenshots } from './page-screenshots.ts';

const VIEWS = [
  { name: 'daemons-light.png', colorScheme: 'light', viewport: { width: 1120, height: 680 } },
  { name: 'daemons-narrow.png', colorScheme: 'dark', viewport: { width: 390, height: 900 } },
] as const;

/** Nobody fetches for so long: what the board calls stalled. A minute of the daemon is a second here. */
const STALLED_S = 600;
const FASTER = 60;

/** Writes the pictures into `folder`, found with the Chromium at `executablePath`. */
export async function captureDaemonScreenshots(folder: string, executablePath: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await using upstream = await referenceUpstream({ pingMs: 100, heartbeatMs: 6000 });
  using home = trayHome({ primary: { is: 'local' } });
  const [cyrus] = installIn(home, createConfig('cyrus', { upstream: upstream.url }));
  installIn(home, createConfig('ada'), createConfig('bo'));
  if (cyrus === undefined) throw new Error('cyrus is not installed');
  const known = upstream.persona('lab', 'cyrus', cyrus);
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await using _ada = await startDaemon(home, 'ada');
  await using _bo = await startDaemon(home, 'bo');
  await using slow = await startDaemon(home, 'cyrus', FASTER);
  await slow.connected();
  known.signals(3);
  await home.run(['send', '--to', 'ada', '--from', 'bo', 'The parser branch is ready.']);
  while (((await slow.status())?.drain_age_s ?? 0) < STALLED_S) await sleep(100);
  await home.run(['poll']);
  await tray.until('a stalled one', ({ personas }) => personas.some(({ agent }) => agent === 'stalled'));
  await capturePageScreenshots({
    ...{ folder, executablePath, tray, views: VIEWS },
    async show(page) {
      await page.goto(`${tray.url}/`);
      await page.locator('[data-look="stalled"]').first().waitFor();
    },
  });
}

if (import.meta.main) {
  await captureDaemonScreenshots(
    process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'img'),
    '/usr/bin/chromium',
  );
}
