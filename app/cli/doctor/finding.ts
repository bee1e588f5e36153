import type { Finding } from '../../../core/sources/module.ts';

export { type Finding, fail, ok, skipped, warn } from '../../../core/sources/module.ts';

/** A failure on a desktop; only a warning where nobody is logged in to one. */
export const missing = (hasDisplay: boolean, seen: string, next: string): Finding => ({
  is: hasDisplay ? 'fail' : 'warn',
  seen,
  next,
});

/** Quotes a path as one word of a command that a person copies. */
export function quoteShellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const MIB = 1024 * 1024;

export function formatSize(bytes: number): string {
  if (bytes >= 1024 * MIB) return `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${bytes} bytes`;
}
