import type { KnownSet } from '../model/index.ts';
import type { Look, SetEvidence, SetItem } from '../sources/index.ts';
import { adopted, diff, knownAs, moved } from './diff.ts';
import type { Notice, Rules, WatchState } from './state.ts';

/** What was told of the set; nothing yet, where everything in it is new. */
export function setOf({ mark, minted }: WatchState, { epoch }: SetEvidence): KnownSet {
  return mark.is === 'known' ? mark : { epoch, next: minted.next, keys: [] };
}

/**
 * The first healthy look at a set, with the branches of a log (Kijito spec 7.0): a baseline is remembered and not told; of
 * an inbox born during the run, one that is watched from the beginning on, or one whose position can not be read, all is
 * new; and more than the cap are counted instead of told.
 */
export function decideSet(
  state: WatchState,
  { unread }: Look,
  evidence: SetEvidence,
  rules: Rules,
  isSilent: (item: SetItem) => boolean,
): WatchState {
  const armed = (set: KnownSet, ...notices: Notice[]): WatchState => {
    const mark = { ...set, is: 'known' } as const;
    return { ...state, arming: 'armed', mark, notices: [...state.notices, ...notices, { is: 'armed' }] };
  };
  if (state.arming === 'corrupt')
    return armed({ ...setOf(state, evidence), keys: [] }, { is: 'state_corrupt', at: 0, why: state.why });
  if (state.mark.is === 'unset') {
    const set = adopted({ keys: [] }, evidence, state.minted.next, isSilent);
    const first = state.minted.next;
    const skipped = set.next - first;
    const isToSay = rules.delivery === 'at-least-once' && skipped > 0 && !(unread.is === 'exact' && unread.n === 0);
    if (!isToSay) return armed(set);
    const range = [first, set.next - 1] as const;
    const held = unread.is === 'exact' ? unread.n : null;
    return armed(set, { is: 'baseline_skipped', at: set.next - 1, skipped, range, unread: held, why: state.why });
  }
  const set = setOf(state, evidence);
  if (state.arming === 'born' || set.epoch !== evidence.epoch) return armed(set);
  const { known, appeared } = diff(set, evidence, isSilent);
  if (appeared.length <= rules.maxReplay) return armed(set);
  const first = Math.max(known.next, state.minted.next);
  const all = moved(
    known,
    appeared.map((item, i) => ({ is: 'put', known: knownAs(item, first + i) })),
  );
  const from = state.mark;
  return armed(all, { is: 'replay_capped', from, cappedTo: all.next - 1, dropped: appeared.length });
}
