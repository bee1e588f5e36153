import type { Count } from '../../core/model/index.ts';

type Known = Exclude<Count, { is: 'unknown' }>;

export function atLeastOne(count: Count): count is Known {
  return count.is !== 'unknown' && count.n > 0;
}

/** `3`, or `200+` when there may be more. */
export function numberOf(count: Known): string {
  return count.is === 'exact' ? String(count.n) : `${count.n}+`;
}
