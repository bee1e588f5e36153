import type { KnownSet } from '../model/index.ts';
import type { PollResult, SetEvidence, SetItem } from '../sources/index.ts';
import { adoptSet, applyMoves, computeDiff, toKnownItem } from './set-diff.ts';
import type { Notice, WatcherRules, WatcherState } from './watcher-state.ts';

/** What was told of the set; nothing yet, where everything in it is new. */
export function getKnownSet({ checkpoint, numbered: minted }: WatcherState, { epoch }: SetEvidence): KnownSet {
  return checkpoint.is === 'known' ? checkpoint : { epoch, next: minted.next, keys: [] };
}

/**
 * The first healthy look at a set, with the branches of a log (Kijito spec 7.0): a baseline is remembered and not told; of
 * an inbox born during the run, one that is watched from the beginning on, or one whose position cannot be read, all is
 * new; and more than the cap are counted instead of told.
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
