import { type Count, exactly, isSameCount, UNKNOWN } from '../model/index.ts';
import type { PendingCounts, UnreadCounts } from '../sources/index.ts';

/** Who is not in the list has nothing unread. */
export const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };

/** What a level counts as unread, null where it does not say. */
export function getUnreadCount({ unread }: UnreadCounts): number | null {
  return unread.is === 'unknown' ? null : unread.n;
}

export function isSameCounts(a: UnreadCounts, b: UnreadCounts): boolean {
  return a === b || (isSameCount(a.unread, b.unread) && isSameCount(a.urgent, b.urgent));
}

/** Whether any count of one answer differs from those of the answer before. */
export function hasChanges(before: PendingCounts['byAddress'], after: PendingCounts['byAddress']): boolean {
  if (before === after) return false;
  for (const [address, level] of after) if (!isSameCounts(before.get(address) ?? NOTHING_UNREAD, level)) return true;
  for (const [address, level] of before) if (!after.has(address) && !isSameCounts(level, NOTHING_UNREAD)) return true;
  return false;
}

/**
 * How much of what a look found unread is urgent, as far as the pending list told: rows do not say. When the look found
 * another number than the list did, the list's count of urgent mail is a lower bound at most, and of 0 it says nothing.
 */
export function countUrgent(unread: Count, level: UnreadCounts | null): Count {
  if (unread.is === 'exact' && unread.n === 0) return exactly(0);
  if (level === null || level.urgent.is === 'unknown') return UNKNOWN;
  if (unread.is === 'unknown' || isSameCount(unread, level.unread)) return level.urgent;
  const n = Math.min(level.urgent.n, unread.n);
  return n === 0 ? UNKNOWN : { is: 'atLeast', n };
}
