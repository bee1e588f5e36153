import type { Hole, LogEvidence, Row } from '../sources/index.ts';
import type { AlarmSaying } from './said.ts';
import type { Rules, WatchState } from './state.ts';

/** When all unread mail is shown again, the next that is not is told again (trap 47). */
export function observed(state: WatchState, { hidden }: LogEvidence): WatchState {
  return state.hiddenTold && hidden?.unread === 0 ? { ...state, hiddenTold: false } : state;
}

/** What is to be said of this look beside mail, as far as it was not said before. */
export function alarmsOf(
  state: WatchState,
  { hidden, rows }: LogEvidence,
  hole: Hole | undefined,
  rules: Rules,
  cursor: number,
  above: readonly Row[],
): readonly AlarmSaying[] {
  if (rules.delivery === 'at-most-once') return [];
  const alarms: AlarmSaying[] = [];
  if (hole !== undefined && state.gapAlerted !== cursor) alarms.push({ is: 'gap', cursor, hole });
  if (hole !== undefined && state.forgot > 0 && !state.lossTold)
    alarms.push({ is: 'evidence-lost', cursor, forgot: state.forgot });
  if (hidden !== undefined && hidden.unread > 0 && !state.hiddenTold) {
    const isAbove = isHiddenAbove(hidden.floor, hole, cursor, above);
    const floor = hidden.floor ?? rows[0]?.id ?? null;
    alarms.push({ is: 'unread-not-shown', cursor, unread: hidden.unread, floor, isAbove });
  }
  return alarms.filter(({ is }) => !rules.silenced.has(is));
}

/** Whether unread mail that the newest page does not show lies above the cursor; null: it can not be told. */
function isHiddenAbove(
  floor: number | null,
  hole: Hole | undefined,
  cursor: number,
  above: readonly Row[],
): boolean | null {
  if (floor === null) return null;
  if (floor <= cursor + 1) return false;
  const isSeen = above.some((row) => row.id < floor && !row.read);
  return isSeen ? true : hole === undefined ? false : null;
}
