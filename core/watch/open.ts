import type { Instant } from '../model/index.ts';
import type { Tail } from '../sinks/index.ts';
import type { SavedBaseline } from '../state/index.ts';
import { FIRST_LOG, markAt, type Notice, type Rules, type Saved, type Start, type WatchState } from './state.ts';

/** The state a watch begins with (Kijito spec 7.0: cursor and FSM resolve independently). */
export function openWatch(at: Instant, start: Start, saved: Saved | null, tail: Tail, rules: Rules): WatchState {
  const cursor =
    start.is === 'seed' ? start.id : start.is === 'born' ? 0 : start.is === 'resume' ? saved?.cursor : null;
  const known = cursor !== null && cursor !== undefined;
  const resumed = start.is === 'resume' ? saved : null;
  const set = resumed?.known;
  const done = (resumed?.delivered_above ?? []).map(([from, to]) => ({ from, to }));
  const corrupt = resumed?.state_corrupt;
  const skipped = resumed?.baseline_skipped;
  const untold = resumed?.log?.untold;
  return {
    mark: set !== undefined ? { is: 'known', ...set } : known ? markAt(cursor, done).mark : { is: 'unset' },
    arming:
      start.is === 'born' || start.is === 'corrupt' ? start.is : known || set !== undefined ? 'rearm' : 'baseline',
    why: 'why' in start && start.why !== undefined ? start.why : 'there was no saved position',
    reach: { is: 'unseen' },
    failures: saved?.consecutive_failures ?? 0,
    told: saved?.state ?? 'UP',
    notices: [
      ...(start.is === 'born' || resumed?.persona_added === true ? [{ is: 'persona_added' as const }] : []),
      ...(corrupt === undefined ? [] : [{ is: 'state_corrupt' as const, at: cursor ?? 0, why: corrupt }]),
      ...(skipped === undefined ? [] : [skippedBefore(skipped)]),
      ...(untold === undefined ? [] : [{ is: 'log_restarted' as const, cursorAt: untold[0], max: untold[1] }]),
    ],
    minted: { next: (tail.newest ?? 0) + 1, keys: [] },
    gapAlerted: resumed?.gap_alerted ?? null,
    releaseAt: resumed?.pin_release_at ?? null,
    wasPinned: done.length > 0 || resumed?.gap_alerted !== undefined || resumed?.pin_release_at !== undefined,
    forgot: 0,
    lossTold: resumed?.pin_evidence_intact === false,
    hiddenTold: resumed?.unread_hidden === true,
    // Whose ids these are does not change with a seed; what is old in it does: a seed is the operator's word.
    log: saved?.log === undefined ? FIRST_LOG : { name: saved.log.name, readTo: resumed?.log?.read_to ?? 0 },
    isAhead: rules.delivery === 'at-least-once' && (start.is === 'seed' || resumed?.seeded_ahead === true),
    held: known && start.is !== 'seed' ? idsHeld(tail, rules, cursor, saved?.log?.name ?? '') : [], // a seed is the operator's word: replay all
    beatAt: at,
    count: 0,
    offer: null,
  };
}

function skippedBefore({ armed_at: at, skipped, id_range: range, unread_held, reason: why }: SavedBaseline): Notice {
  return { is: 'baseline_skipped', at, skipped, range, unread: unread_held === 'unknown' ? null : unread_held, why };
}

/** Ids of this log above the cursor for which the sink already holds the `new` event. */
function idsHeld(tail: Tail, rules: Rules, cursor: number, log: string): number[] {
  const prefix = `${rules.persona ?? '_'}:new:`;
  const ids: number[] = [];
  for (const eventId of tail.eventIds) {
    if (!eventId.startsWith(prefix)) continue;
    const [digits, ...name] = eventId.slice(prefix.length).split('@');
    if (name.join('@') !== log) continue;
    const id = Number(digits);
    if (Number.isSafeInteger(id) && id > cursor) ids.push(id);
  }
  return ids.sort((a, b) => a - b);
}
