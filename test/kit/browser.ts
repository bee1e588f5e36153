import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
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
