import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads the version from package.json, which is the only place that has it. The file is one folder up, in a checkout and in the
 * package.
 */
export function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

// In the package the compiled files are in dist/, beside assets/. In a checkout this file is in app/.
const ASSETS = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', 'assets')
  : join(import.meta.dirname, 'assets');

/** The image that stands for Hivebar in notifications and in the menus of a desktop, under assets/. */
export const ICON = 'icons/44/up-none.png';

/** Returns the absolute path of a file under assets/, in a checkout and in the installed package. */
export function getAssetPath(name: string): string {
  return join(ASSETS, name);
}
