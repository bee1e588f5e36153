import { join } from 'node:path';

// In the package every compiled file stands in dist/ beside assets/; in a checkout this file stands in app/.
const ASSETS = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', 'assets')
  : join(import.meta.dirname, 'assets');

/** The absolute path of a file under assets/, in a checkout and in the installed package alike. */
export function getAssetPath(name: string): string {
  return join(ASSETS, name);
}
