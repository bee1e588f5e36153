/** `node build/board-screenshots.ts [FOLDER]`: the pictures of a project's board, of the real program in a real browser. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../test/kit/scratch.ts';
import { trayHome } from '../test/kit/tray-process.ts';
import { writeExampleProject } from './example-project.ts';
import { capturePageScreenshots } from './page-screenshots.ts';

const VIEWS = [
  { name: 'board-light.png', colorScheme: 'light', viewport: { width: 1120, height: 1180 } },
  { name: 'board-dark.png', colorScheme: 'dark', viewport: { width: 1120, height: 1180 } },
  { name: 'board-narrow.png', colorScheme: 'dark', viewport: { width: 390, height: 1330 } },
] as const;

/** Writes the pictures into `folder`, found with the Chromium at `executablePath`. */
export async function captureBoardScreenshots(folder: string, executablePath: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  using files = scratch();
  const project = files.at('harbor');
  writeExampleProject(project, Date.now());
  using home = trayHome({ primary: { is: 'local' }, brainclaw: { is: 'on', projects: [project], actions: true } });
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await tray.until('the project', ({ projects }) => projects.length === 1);
  await home.run(['send', '--to', 'ada', '--from', 'bo', 'The parser branch is ready.']);
  await home.run(['send', '--to', 'bo', '--from', 'ada', 'Thanks, I will look.']);
  await tray.until('the mail', ({ personas }) => personas.filter(({ source }) => source === 'local').length === 2);
  await capturePageScreenshots({
    ...{ folder, executablePath, tray, views: VIEWS },
    async show(page) {
      await page.goto(`${tray.url}/`);
      await page.locator('.section[data-section="attention"] .row').first().waitFor();
      await page.locator('.agent').nth(2).waitFor();
    },
  });
}

if (import.meta.main) {
  await captureBoardScreenshots(process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'img'), '/usr/bin/chromium');
}
