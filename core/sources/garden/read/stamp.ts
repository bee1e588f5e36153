import type { Instant } from '../../../model/index.ts';
import type { Stat } from '../../../ports/index.ts';

/** Two equal stamps mean the same file or directory, without any change in between that the disk reports. */
export function toStamp({ dev, ino, size, ctimeMs }: Stat): string {
  return `${dev}:${ino}:${size}:${ctimeMs}`;
}

/** How coarse the disk's clock may be, and how far it may be behind ours. */
export const COARSE_MS = 100;

/**
 * Whether an unchanged stamp proves that a directory has the same names as at `readAt`, just before it was read. It does not when
 * the directory changed right then, because a later change could have the same time. Behind a symlink nothing is known.
 */
export function isSettled({ kind, ctimeMs }: Stat, readAt: Instant): boolean {
  return kind === 'directory' && ctimeMs < readAt - COARSE_MS;
}
