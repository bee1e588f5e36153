import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/source-file.ts';

/**
 * The program `node` of another version, from the registry, kept under `.cache/` of the checkout.
 * @returns its path; null where there is none for this machine and tests may be skipped
 */
export function otherNode(version: string): string | null {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const prefix = join(ROOT, '.cache', 'nodes', version);
  const file = join(prefix, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(file)) return file;
  mkdirSync(prefix, { recursive: true });
  const npm = [
    'install',
    '--prefix',
    prefix,
    '--ignore-scripts',
    '--no-save',
    '--loglevel=error',
    `${name}@${version}`,
  ];
  try {
    execFileSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    // npm has said why on stderr; the test that needs it says what is missing.
    return null;
  }
  return existsSync(file) ? file : null;
}
