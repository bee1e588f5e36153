import { join } from 'node:path';

// In the package the compiled files are in dist/, beside assets/. In a checkout this file is in app/.
const ASSETS = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', 'assets')
  : join(import.meta.dirname, 'assets');

/** Returns the absolute path of a file under assets/, in a checkout and in the installed package. */
export function getAssetPath(name: string): string {
  return join(ASSETS, name);
}
