import type { Instant, Reach } from '../model/index.ts';
import type { Look } from '../sources/index.ts';
import { type Output, offering, SILENT } from './offer.ts';
import type { Notice, Rules, WatchState } from './state.ts';

/** A look at counts only: edges of reach are told, and that it is watched; there is no mail to tell, so no position to keep. */
export function lookedAtLevel(before: WatchState, at: Instant, look: Look, rules: Rules): Output {
  const reach: Reach = before.reach.is === 'up' ? before.reach : { is: 'up', since: at };
  const armed: readonly Notice[] = before.arming === 'armed' ? [] : [{ is: 'armed' }];
  const notices = [...before.notices, ...armed];
  const state: WatchState = { ...before, arming: 'armed', mark: { is: 'unset' }, notices, reach, failures: 0 };
  const edge = state.told === 'DOWN' ? 'UP' : null;
  const out = offering(state, at, rules, {
    ...SILENT,
    mark: state.mark,
    save: true,
    edge,
    notices,
  });
  const { unread, urgent, vital } = look;
  const persona = rules.persona ?? '_';
  return { ...out, facts: [{ is: 'looked', at, persona, reach, unread, urgent, vital, cursor: null }] };
}
