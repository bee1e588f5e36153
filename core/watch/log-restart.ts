import type { LogEvidence, Look } from '../sources/index.ts';
import { FIRST_LOG, type Notice, type Rules, type WatchState } from './state.ts';

/**
 * Ids rise for ever, so an inbox with unread mail whose newest id is below the cursor holds another log: the hive was
 * emptied, or restored, and begins again. The checkpoint is set anew at its beginning; the next look tells what is unread.
 * Revision 6 holds its cursor whatever comes (Kijito spec 7.0), and so does a seed that an operator gave. Null: it is the
 * log of before.
 */
export function restartLog(
  state: WatchState,
  { unread }: Look,
  evidence: LogEvidence,
  rules: Rules,
): WatchState | null {
  const { mark, arming } = state;
  if (rules.delivery === 'at-most-once' || mark.is !== 'at' || state.isAhead) return null;
  if (arming !== 'armed' && arming !== 'rearm') return null;
  const { max, hole } = evidence;
  if (hole !== undefined || max >= mark.id || unread.is === 'unknown' || unread.n === 0) return null;
  const restarted: Notice = { is: 'log_restarted', cursorAt: mark.id, max };
  return {
    ...state,
    arming: 'armed',
    mark: { is: 'at', id: 0 },
    log: { name: `${rules.run}-${state.count + 1}`, readTo: max },
    notices: [
      ...state.notices.filter(({ is }) => is !== 'log_restarted'), // one that began again before anybody was told of it
      restarted,
      ...(arming === 'armed' ? [] : [{ is: 'armed' } as const]),
    ],
    held: [],
    gapAlerted: null,
    releaseAt: null,
    wasPinned: false,
    forgot: 0,
    lossTold: false,
  };
}

/** Ids below the cursor are no surprise any more once the log has come up to it. */
export function passAhead(state: WatchState, { max }: LogEvidence): WatchState {
  const isReached = state.isAhead && state.mark.is === 'at' && max >= state.mark.id;
  return isReached ? { ...state, isAhead: false } : state;
}

/** What was read before this log was first seen is no news; of the first log that is for the cursor to say. */
export function isOldNews({ log }: WatchState, row: { readonly id: number; readonly read: boolean }): boolean {
  return log !== FIRST_LOG && row.read && row.id <= log.readTo;
}
