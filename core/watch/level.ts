import { type Count, exactly, sameCount, UNKNOWN } from '../model/index.ts';
import type { Level, Levels } from '../sources/index.ts';

/** Who is not in the list has nothing unread. */
export const NONE: Level = { unread: exactly(0), urgent: exactly(0) };

/** What a level counts as unread, null where it does not say. */
export function countOf({ unread }: Level): number | null {
  return unread.is === 'unknown' ? null : unread.n;
}

export function sameLevel(a: Level, b: Level): boolean {
  return a === b || (sameCount(a.unread, b.unread) && sameCount(a.urgent, b.urgent));
}

/** Whether any count of one answer differs from those of the answer before. */
export function changedBetween(before: Levels['of'], after: Levels['of']): boolean {
  if (before === after) return false;
  for (const [address, level] of after) if (!sameLevel(before.get(address) ?? NONE, level)) return true;
  for (const [address, level] of before) if (!after.has(address) && !sameLevel(level, NONE)) return true;
  return false;
}

/**
 * How much of what a look found unread is urgent, as far as the pending list told: rows do not say. When the look found
 * another number than the list did, the list's count of urgent mail is a lower bound at most, and of 0 it says nothing.
 */
export function urgentAmong(unread: Count, level: Level | null): Count {
  if (unread.is === 'exact' && unread.n === 0) return exactly(0);
  if (level === null || level.urgent.is === 'unknown') return UNKNOWN;
  if (unread.is === 'unknown' || sameCount(unread, level.unread)) return level.urgent;
  const n = Math.min(level.urgent.n, unread.n);
  return n === 0 ? UNKNOWN : { is: 'atLeast', n };
}
