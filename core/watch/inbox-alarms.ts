import type { Gap, LogEvidence, Message } from '../sources/index.ts';
import type { AlarmDetails } from './notice-events.ts';
import type { WatcherRules, WatcherState } from './watcher-state.ts';

/** Once all unread mail is shown again, the alarm about mail that is not shown may be raised again (trap 47). */
export function clearHiddenAlarm(state: WatcherState, { hidden }: LogEvidence): WatcherState {
  return state.hiddenDelivered && hidden?.unread === 0 ? { ...state, hiddenDelivered: false } : state;
}

/** Returns the alarms of this poll result that were not delivered before. */
export function findAlarms(
  state: WatcherState,
  { hidden, messages }: LogEvidence,
  gap: Gap | undefined,
  rules: WatcherRules,
  cursor: number,
  above: readonly Message[],
): readonly AlarmDetails[] {
  if (rules.delivery === 'at-most-once') return [];
  const alarms: AlarmDetails[] = [];
  if (gap !== undefined && state.gapAlerted !== cursor) alarms.push({ is: 'gap', cursor, gap });
  if (gap !== undefined && state.forgot > 0 && !state.lossDelivered)
    alarms.push({ is: 'evidence-lost', cursor, forgot: state.forgot });
  if (hidden !== undefined && hidden.unread > 0 && !state.hiddenDelivered) {
    const isAbove = isHiddenAbove(hidden.floor, gap, cursor, above);
    const floor = hidden.floor ?? messages[0]?.id ?? null;
    alarms.push({ is: 'unread-not-shown', cursor, unread: hidden.unread, floor, isAbove });
  }
  return alarms.filter(({ is }) => !rules.silenced.has(is));
}

/** Returns whether unread mail that the newest page does not show lies above the cursor; null when this is unknown. */
function isHiddenAbove(
  floor: number | null,
  gap: Gap | undefined,
  cursor: number,
  above: readonly Message[],
): boolean | null {
  if (floor === null) return null;
  if (floor <= cursor + 1) return false;
  const isShown = above.some((message) => message.id < floor && !message.read);
  return isShown ? true : gap === undefined ? false : null;
}
