import type { Snapshot } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { formatKnownCount, isAtLeastOne } from './counts.ts';
import { findMachineCauses, isHiveDown, isOn, isUnseen } from './icon.ts';

/** Formats everything in one line: "3 unread, 1 urgent, 2 questions for you, 1 down, 1 stalled, notifications paused". */
export function formatSummary(snapshot: Snapshot, now: Instant): string {
  const { unread, urgent, down, personas } = snapshot.totals;
  const parts: string[] = [];
  if (personas === 0) parts.push('No personas');
  else if (isUnseen(snapshot)) parts.push('Checking for mail');
  else if (unread.is === 'unknown') parts.push('Unread count unknown');
  else if (unread.n > 0) parts.push(`${formatKnownCount(unread)} unread`);
  else parts.push(unread.is === 'exact' ? 'No unread' : 'No unread known');
  if (isAtLeastOne(urgent)) parts.push(`${formatKnownCount(urgent)} urgent`);
  if (snapshot.decisions.length > 0)
    parts.push(`${snapshot.decisions.length} ${snapshot.decisions.length === 1 ? 'question' : 'questions'} for you`);
  if (down > 0) parts.push(`${down} down`);
  else if (isHiveDown(snapshot)) parts.push('hive down');
  if (findMachineCauses(snapshot).length > 0) parts.push('problem on this machine');
  const stalled = snapshot.personas.filter(({ agentState, hidden }) => !hidden && agentState.is === 'stalled').length;
  if (stalled > 0) parts.push(`${stalled} stalled`);
  if (isOn(snapshot.paused, now)) parts.push('notifications paused');
  return parts.join(', ');
}

/** Formats the full count: `3`, or `? 3` when a decision is open; empty for none. */
export function formatIconCount({ decisions, totals: { unread } }: Snapshot): string {
  const parts = [decisions.length > 0 ? '?' : '', isAtLeastOne(unread) ? formatKnownCount(unread) : ''];
  return parts.filter((part) => part !== '').join(' ');
}
