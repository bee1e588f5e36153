import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Instant } from '../model/index.ts';
import { type Log, realFiles } from '../ports/index.ts';
import type { Disk } from './safe-open.ts';

/** The disk of this machine, accessed as the user of this process. */
export function createRealDisk(log: Log): Disk {
  return { files: realFiles, log, uid: process.geteuid?.() ?? null };
}

/** No writer takes that long. A writer that was suspended for longer reports a failure. */
const OLD_MS = 600_000;

/** Whether this is the name of a temporary file of `writeAtomically`, for any target. */
export const isTemp = (name: string): boolean => name.startsWith('.kijmon-') && name.endsWith('.tmp');

/**
 * Removes temporary files that kills left in a directory to which several processes write without a lock. Files that nobody wrote
 * to for 10 minutes are removed. Returns how many were removed. Never throws, since leftovers are no failure.
 */
export function sweepOldTemps(directory: string, now: Instant): number {
  let swept = 0;
  try {
    for (const name of fs.readdirSync(directory).filter(isTemp)) {
      const path = join(directory, name);
      const { mtimeMs } = fs.lstatSync(path);
      if (Math.abs(now - mtimeMs) < OLD_MS) continue;
      fs.unlinkSync(path);
      swept += 1;
    }
  } catch {
    // Another process removes them, or we may not: the next sweep tries again.
  }
  return swept;
}
