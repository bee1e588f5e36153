import type { LogEvidence, PollResult } from '../sources/index.ts';
import { FIRST_LOG, type Notice, type WatcherRules, type WatcherState } from './watcher-state.ts';

/** Where another log begins. A position of the log before means nothing in it, and would hide its first messages. */
const BEGINNING = { is: 'at', id: 0 } as const;

/**
 * Ids always rise, so an inbox with unread mail whose newest id is below the cursor holds another log: the hive was
 * emptied or restored, and its ids begin again. The checkpoint is set to the beginning, and the next poll delivers what
 * is unread. Revision 6 keeps its cursor in any case (Kijito spec 7.0), and so does a seed that an operator gave. Null:
 * the log is still the same.
 */
export function restartLog(
  state: WatcherState,
  { unread }: PollResult,
  evidence: LogEvidence,
  rules: WatcherRules,
): WatcherState | null {
  const { checkpoint, arming } = state;
  if (rules.delivery === 'at-most-once' || checkpoint.is !== 'at' || state.isAhead) return null;
  if (arming !== 'armed' && arming !== 'rearm') return null;
  const { max, gap } = evidence;
  if (gap !== undefined || max >= checkpoint.id || unread.is === 'unknown' || unread.n === 0) return null;
  const restarted: Notice = { is: 'log_restarted', cursorAt: checkpoint.id, max };
  return {
    ...state,
    arming: 'armed',
    checkpoint: BEGINNING,
    log: { name: `${rules.run}-${state.count + 1}`, readTo: max },
    notices: [
      ...state.notices
        .filter(({ is }) => is !== 'log_restarted') // drop an earlier restart that was not delivered
        .map((notice) => (notice.is === 'replay_capped' ? { ...notice, from: BEGINNING } : notice)),
      restarted,
      ...(arming === 'armed' ? [] : [{ is: 'armed' } as const]),
    ],
    held: [],
    gapAlerted: null,
    releaseAt: null,
    wasPinned: false,
    forgot: 0,
    lossDelivered: false,
  };
}

/** Once the log has reached a cursor that was seeded ahead, ids below the cursor mean another log again. */
export function passAhead(state: WatcherState, { max }: LogEvidence): WatcherState {
  const isReached = state.isAhead && state.checkpoint.is === 'at' && max >= state.checkpoint.id;
  return isReached ? { ...state, isAhead: false } : state;
}

/**
 * A message that was read before this log was first seen is not delivered. In the first log the cursor decides that.
 */
export function isOldNews({ log }: WatcherState, row: { readonly id: number; readonly read: boolean }): boolean {
  return log !== FIRST_LOG && row.read && row.id <= log.readTo;
}
