import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../house/source-file.ts';

const run = promisify(execFile);

/**
 * The program `node` of another version, from the registry, kept under `.cache/` of the checkout. Of the package only the
 * program is unpacked.
 * @returns its path; null where there is none for this machine and tests may be skipped
 */
export async function otherNode(version: string): Promise<string | null> {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const program = `package/bin/${process.platform === 'win32' ? 'node.exe' : 'node'}`;
  const folder = join(ROOT, '.cache', 'nodes', `${name}-${version}`);
  const file = join(folder, program);
  if (existsSync(file)) return file;
  const unfinished = `${folder}.unfinished`;
  const archive = `${name}-${version}.tgz`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  try {
    await run('npm', ['pack', '--silent', '--pack-destination', unfinished, `${name}@${version}`]);
    await run('tar', ['-xzf', archive, program], { cwd: unfinished });
  } catch (error) {
    // The test that needs it says what is missing.
    process.stderr.write(`${error}\n`);
    return null;
  }
  rmSync(join(unfinished, archive));
  renameSync(unfinished, folder);
  return file;
}
