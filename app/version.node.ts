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
