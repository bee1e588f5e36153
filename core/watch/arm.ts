import type { Count } from '../model/index.ts';
import type { LogEvidence, Look } from '../sources/index.ts';
import type { Notice, Rules, WatchState } from './state.ts';

/**
 * The three first-poll branches, a fourth for an inbox born during the run, and a fifth for a position that can not be
 * read. Sets the cursor before any mail.
 */
export function decide(state: WatchState, { unread }: Look, evidence: LogEvidence, rules: Rules): WatchState {
  const { rows, max } = evidence;
  const armed = (id: number, ...notices: Notice[]): WatchState => ({
    ...state,
    arming: 'armed',
    mark: state.mark.is === 'at' && state.mark.id === id ? state.mark : { is: 'at', id },
    held: state.held.filter((h) => h > id),
    notices: [...state.notices, ...notices, { is: 'armed' }],
  });
  if (state.arming === 'corrupt') {
    const id = (rows[0]?.id ?? 1) - 1;
    return { ...armed(id, { is: 'state_corrupt', at: id, why: state.why }), releaseAt: max, wasPinned: true };
  }
  if (state.mark.is !== 'at') return armed(max, ...skippedBy(state, unread, evidence, rules));
  const cursor = state.mark.id;
  if (state.arming === 'born') return armed(cursor);
  if (cursor > max) return armed(cursor, { is: 'seed_ahead', seeded: cursor, currentMax: max });
  if (state.wasPinned) return armed(cursor);
  const held = new Set(state.held);
  const replay = rows.filter((row) => row.id > cursor && !held.has(row.id)).length;
  if (replay > rules.maxReplay)
    return armed(max, { is: 'replay_capped', from: state.mark, cappedTo: max, dropped: replay });
  return armed(cursor);
}

/** A baseline over unread mail says so; over none, or where rev 6 is kept to, it is silent. */
function skippedBy(state: WatchState, unread: Count, { rows, max }: LogEvidence, rules: Rules): readonly Notice[] {
  const oldest = rows[0]?.id;
  if (rules.delivery === 'at-most-once' || oldest === undefined) return [];
  if (unread.is === 'exact' && unread.n === 0) return [];
  const held = unread.is === 'exact' ? unread.n : null;
  return [
    { is: 'baseline_skipped', at: max, skipped: rows.length, range: [oldest, max], unread: held, why: state.why },
  ];
}
