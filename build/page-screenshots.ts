import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import type { TrayProcess } from '../test/kit/tray-process.ts';
import { saveScreenshot } from './screenshot.ts';

export interface ScreenshotView {
  /** Of the picture's file. */
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly viewport: { readonly width: number; readonly height: number };
}

export interface PageScreenshots {
  /** Where they are written. */
  readonly folder: string;
  /** The Chromium that takes them. */
  readonly executablePath: string;
  readonly tray: Pick<TrayProcess, 'url' | 'token'>;
  readonly views: readonly ScreenshotView[];
  /** What the page says of its connection; `live` by default. */
  readonly link?: 'live' | 'lost';
  /** Opens what a picture shows, and waits for it. */
  readonly show: (page: Page, view: ScreenshotView) => Promise<void>;
}

/** Takes pictures of the page of a program that runs, in a browser that has the token. */
export async function capturePageScreenshots({
  folder,
  executablePath,
  tray,
  views,
  link = 'live',
  show,
}: PageScreenshots): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    for (const view of views) {
      const { name, colorScheme, viewport } = view;
      const page = await browser.newPage({ colorScheme, viewport });
      // as a one-time link leaves it
      await page.addInitScript(`localStorage.setItem('hivebar-token', ${JSON.stringify(tray.token)})`);
      await show(page, view);
      await page.locator(`#link[data-link="${link}"]`).waitFor();
      await page.mouse.move(0, 0);
      const whole = join(folder, `.whole-${name}`);
      await page.screenshot({ path: whole });
      await saveScreenshot(whole, folder, name, null);
      await page.close();
    }
  } finally {
    await browser.close();
  }
}
