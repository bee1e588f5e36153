import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs work with two empty folders, which are removed after it: one to work in, and one that stands for a home. */
export async function withScratchFolder<T>(
  work: (folder: { readonly cwd: string; readonly home: string }) => Promise<T>,
): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'hivebar-check-'));
  const folder = { cwd: join(root, 'cwd'), home: join(root, 'home') };
  try {
    for (const path of [folder.cwd, folder.home]) mkdirSync(path, { mode: 0o700 });
    return await work(folder);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
