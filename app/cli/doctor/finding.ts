import type { Finding } from '../../../core/sources/finding.ts';

export { type Finding, fail, ok, skipped, warn } from '../../../core/sources/finding.ts';

/** A failure on a desktop; only a warning where nobody is logged in to one. */
export const missing = (hasDisplay: boolean, seen: string, next: string): Finding => ({
  is: hasDisplay ? 'fail' : 'warn',
  seen,
  next,
});
