import { type Count, exactly, isSameCount, UNKNOWN } from '../model/index.ts';
import type { PendingCounts, UnreadCounts } from '../sources/index.ts';

/** A persona that is not in the list has nothing unread. */
export const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };

/** Returns the unread count, or null when the source does not give one. */
export function getUnreadCount({ unread }: UnreadCounts): number | null {
  return unread.is === 'unknown' ? null : unread.n;
}

export function isSameCounts(a: UnreadCounts, b: UnreadCounts): boolean {
  return a === b || (isSameCount(a.unread, b.unread) && isSameCount(a.urgent, b.urgent));
}

/** Returns whether any count differs between two answers. */
export function hasChanges(before: PendingCounts['byAddress'], after: PendingCounts['byAddress']): boolean {
  if (before === after) return false;
  for (const [address, level] of after) if (!isSameCounts(before.get(address) ?? NOTHING_UNREAD, level)) return true;
  for (const [address, level] of before) if (!after.has(address) && !isSameCounts(level, NOTHING_UNREAD)) return true;
  return false;
}

/**
 * Computes how much of the unread mail that a poll found is urgent. Messages do not say, so the counts of the pending
 * list decide. If the two unread counts differ, the urgent count of the list is only a lower bound, and 0 means
 * unknown.
 */
export function countUrgent(unread: Count, level: UnreadCounts | null): Count {
  if (unread.is === 'exact' && unread.n === 0) return exactly(0);
  if (level === null || level.urgent.is === 'unknown') return UNKNOWN;
  if (unread.is === 'unknown' || isSameCount(unread, level.unread)) return level.urgent;
  const n = Math.min(level.urgent.n, unread.n);
  return n === 0 ? UNKNOWN : { is: 'atLeast', n };
}
