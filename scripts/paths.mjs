import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What `npm ci` was last run for, byte for byte: also what `scripts/hivebar` compares, in a millisecond. */
export const stamp = join(root, 'node_modules', '.installed-lock.json');

/**
 * The Node that the project runs on: its own, as locked.
 * @throws when there is none for this machine and the running one is too old to stand in.
 */
export function projectNode() {
  const own = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(own)) return own;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 15)) return process.execPath;
  throw new Error(
    `no Node 24 for ${process.platform}-${process.arch} came with the install, and this one is ${process.versions.node}: install Node 24.15 or newer`,
  );
}
