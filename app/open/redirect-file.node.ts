import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, realRandom } from '../../core/ports/index.ts';
import { createOpenFault } from './url-opener.node.ts';

/** The lifetime of a one-time link. */
const LIFETIME_MS = 60_000;
const NAME = /^open-[0-9a-f]{16}\.html$/;

/** Holds addresses with a one-time code, each in a file that only its owner can read. */
export interface RedirectFiles extends Disposable {
  /**
   * Writes a page that leads a browser to `address`, and returns the `file://` URL of that page. The page is removed after a
   * minute.
   * @throws Fault `exec-failed` when it cannot be written
   */
  write(address: string): string;
}

/**
 * Keeps one-time codes out of the browser's command line, which every user of the machine can read. The browser opens a file in
 * the run directory, and the file contains the address. Files of an earlier process are removed.
 */
export function openRedirectFiles(directory: string, clock: Clock): RedirectFiles {
  const timers = new Map<string, Disposable>();
  for (const name of readdirSync(directory)) if (NAME.test(name)) rmSync(join(directory, name), { force: true });

  const remove = (path: string): void => {
    timers.get(path)?.[Symbol.dispose]();
    timers.delete(path);
    rmSync(path, { force: true });
  };
  return {
    write: (address) => {
      const path = join(directory, `open-${realRandom.hex(8)}.html`);
      try {
        writeFileSync(path, formatRedirect(address), { flag: 'wx', mode: 0o600 });
      } catch (error) {
        throw createOpenFault(
          `${path} could not be written: ${error instanceof Error ? error.message : String(error)}`,
          error,
        );
      }
      timers.set(
        path,
        clock.after(LIFETIME_MS, () => remove(path)),
      );
      return pathToFileURL(path).href;
    },
    [Symbol.dispose]: () => {
      for (const path of timers.keys()) remove(path);
    },
  };
}

function formatRedirect(address: string): string {
  const url = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return [
    '<!doctype html>',
    '<meta charset="utf-8">',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${url}">`,
    '<title>Hivebar</title>',
    `<p><a href="${url}">Open the status page</a></p>`,
    '',
  ].join('\n');
}
