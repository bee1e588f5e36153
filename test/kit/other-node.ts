import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../house/source-file.ts';

/**
 * The program `node` of another version, from the registry, kept under `.cache/` of the checkout.
 * @returns its path; null where there is none for this machine and tests may be skipped
 */
export async function otherNode(version: string): Promise<string | null> {
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
    await promisify(execFile)('npm', npm);
  } catch (error) {
    // The test that needs it says what is missing.
    process.stderr.write(`${error}\n`);
    return null;
  }
  return existsSync(file) ? file : null;
}
