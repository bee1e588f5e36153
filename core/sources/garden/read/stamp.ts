import type { Instant } from '../../../model/index.ts';
import type { Stat } from '../../../ports/index.ts';

/** Two stats with one stamp are of one file or directory, with nothing changed between them that the disk tells. */
export function toStamp({ dev, ino, size, ctimeMs }: Stat): string {
  return `${dev}:${ino}:${size}:${ctimeMs}`;
}

/** The disk's clock ticks so coarsely, and may be behind ours by so much. */
export const COARSE_MS = 100;

/**
 * Whether a directory whose stamp stays as it was has the same names as at `readAt`, just before it was read. It may not
 * when it changed right then: a later change has the same time. What a symlink points to is not known at all.
 */
export function isSettled({ kind, ctimeMs }: Stat, readAt: Instant): boolean {
  return kind === 'directory' && ctimeMs < readAt - COARSE_MS;
}
