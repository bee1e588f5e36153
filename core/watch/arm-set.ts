import type { KnownSet } from '../model/index.ts';
import type { PollResult, SetEvidence, SetItem } from '../sources/index.ts';
import { adoptSet, applyMoves, computeDiff, toKnownItem } from './set-diff.ts';
import type { Notice, WatcherRules, WatcherState } from './watcher-state.ts';

/** Returns the items that were delivered. The set is empty when everything in it is new. */
export function getKnownSet({ checkpoint, numbered: minted }: WatcherState, { epoch }: SetEvidence): KnownSet {
  return checkpoint.is === 'known' ? checkpoint : { epoch, next: minted.next, keys: [] };
}

/**
 * Decides the checkpoint of a set at its first healthy poll, with the branches of a log (Kijito spec 7.0). A baseline
 * is saved but not delivered. Everything is new when the inbox was born during the run, is watched from its beginning,
 * or has a position that cannot be read. Items beyond the replay cap are counted instead of delivered.
 */
export function decideSet(
  state: WatcherState,
  { unread }: PollResult,
  evidence: SetEvidence,
  rules: WatcherRules,
  isSilent: (item: SetItem) => boolean,
): WatcherState {
  const arm = (set: KnownSet, ...notices: Notice[]): WatcherState => {
    const checkpoint = { ...set, is: 'known' } as const;
    return { ...state, arming: 'armed', checkpoint, notices: [...state.notices, ...notices, { is: 'armed' }] };
  };
  if (state.arming === 'corrupt')
    return arm({ ...getKnownSet(state, evidence), keys: [] }, { is: 'state_corrupt', at: 0, why: state.why });
  if (state.checkpoint.is === 'unset') {
    const set = adoptSet({ keys: [] }, evidence, state.numbered.next, isSilent);
    const first = state.numbered.next;
    const skipped = set.next - first;
    const isToSay = rules.delivery === 'at-least-once' && skipped > 0 && !(unread.is === 'exact' && unread.n === 0);
    if (!isToSay) return arm(set);
    const range = [first, set.next - 1] as const;
    const held = unread.is === 'exact' ? unread.n : null;
    return arm(set, { is: 'baseline_skipped', at: set.next - 1, skipped, range, unread: held, why: state.why });
  }
  const set = getKnownSet(state, evidence);
  if (state.arming === 'born' || set.epoch !== evidence.epoch) return arm(set);
  const { known, appeared } = computeDiff(set, evidence, isSilent);
  if (appeared.length <= rules.maxReplay) return arm(set);
  const first = Math.max(known.next, state.numbered.next);
  const skippedSet = applyMoves(
    known,
    appeared.map((item, i) => ({ is: 'put', known: toKnownItem(item, first + i) })),
  );
  const from = state.checkpoint;
  return arm(skippedSet, { is: 'replay_capped', from, cappedTo: skippedSet.next - 1, dropped: appeared.length });
}
