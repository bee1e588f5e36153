import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** From package.json, the one place that says it; it stands one folder up in a checkout and in the package alike. */
export function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
