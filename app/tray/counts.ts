import { formatCount } from '../../core/format/index.ts';
import type { Count } from '../../core/model/index.ts';

type KnownCount = Exclude<Count, { is: 'unknown' }>;

export function isAtLeastOne(count: Count): count is KnownCount {
  return count.is !== 'unknown' && count.n > 0;
}

/** Formats `3`, or `200+` when there may be more. */
export function formatKnownCount(count: KnownCount): string {
  return formatCount(count.n, count.is);
}
