import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where `npm test` has packed the program, as users have it; a test that is run by itself runs the sources. */
const PACKAGE = process.env.HIVEBAR_TEST_PACKAGE;

/** The entry of a program, for `process.execPath`. */
export function programEntry(name: 'hivebar' | 'kijito-inbox-monitor' | 'hook'): string {
  if (PACKAGE !== undefined) return join(PACKAGE, `${name}.cjs`);
  return fileURLToPath(import.meta.resolve(`../../app/cli/${name}.node.ts`));
}
