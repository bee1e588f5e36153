import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Instant } from '../model/index.ts';

/** No writer takes that long; one that was asleep says that it failed. */
const OLD_MS = 600_000;

/** A temporary file of `writeAtomically`, whichever file it is for. */
export const isTemp = (name: string): boolean => name.startsWith('.kijmon-') && name.endsWith('.tmp');

/**
 * Removes the temporary files that kills left in a directory which several processes write to without a lock: those that
 * nobody has written to for 10 minutes. How many went. Never throws: they are litter and no failure.
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
    // Somebody else sweeps, or may not: the next one tries again.
  }
  return swept;
}
