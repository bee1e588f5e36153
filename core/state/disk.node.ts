import { type Log, realFiles } from '../ports/index.ts';
import type { Disk } from './safe-open.ts';

/** The disk of this machine, accessed as the user of this process. */
export function createRealDisk(log: Log): Disk {
  return { files: realFiles, log, uid: process.geteuid?.() ?? null };
}
