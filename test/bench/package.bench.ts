import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../kit/installed-package.ts';
import { goals } from './harness.ts';

export const benches = [
  goals([{ name: 'installed package', unit: 'MB', bar: 20 }], async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hivebar-bench-'));
    try {
      const { packages, bytes } = installPackage(folder);
      return [{ value: bytes / 1e6, note: `${packages.length} packages` }];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }),
];
