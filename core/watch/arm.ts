import type { Count } from '../model/index.ts';
import type { LogEvidence, PollResult } from '../sources/index.ts';
import type { Notice, WatcherRules, WatcherState } from './watcher-state.ts';

/**
 * Sets the cursor at the first poll, before any mail. There are three branches for a first poll, a fourth for an inbox
 * born during the run, and a fifth for a position that cannot be read.
 */
export function decideCursor(
  state: WatcherState,
  { unread }: PollResult,
  evidence: LogEvidence,
  rules: WatcherRules,
): WatcherState {
  const { messages, max } = evidence;
  const arm = (id: number, ...notices: Notice[]): WatcherState => ({
    ...state,
    arming: 'armed',
    checkpoint: state.checkpoint.is === 'at' && state.checkpoint.id === id ? state.checkpoint : { is: 'at', id },
    held: state.held.filter((h) => h > id),
    notices: [...state.notices, ...notices, { is: 'armed' }],
  });
  if (state.arming === 'corrupt') {
    const id = (messages[0]?.id ?? 1) - 1;
    return { ...arm(id, { is: 'state_corrupt', at: id, why: state.why }), releaseAt: max, wasPinned: true };
  }
  if (state.checkpoint.is !== 'at') return arm(max, ...toSkippedNotices(state, unread, evidence, rules));
  const cursor = state.checkpoint.id;
  if (state.arming === 'born') return arm(cursor);
  if (cursor > max) return arm(cursor, { is: 'seed_ahead', seeded: cursor, currentMax: max });
  if (state.wasPinned) return arm(cursor);
  const held = new Set(state.held);
  const replay = messages.filter((message) => message.id > cursor && !held.has(message.id)).length;
  if (replay > rules.maxReplay)
    return arm(max, { is: 'replay_capped', from: state.checkpoint, cappedTo: max, dropped: replay });
  return arm(cursor);
}

/**
 * A baseline that skips unread mail raises a notice. It is silent when nothing is unread, or in at-most-once mode (rev
 * 6).
 */
function toSkippedNotices(
  state: WatcherState,
  unread: Count,
  { messages, max }: LogEvidence,
  rules: WatcherRules,
): readonly Notice[] {
  const oldest = messages[0]?.id;
  if (rules.delivery === 'at-most-once' || oldest === undefined) return [];
  if (unread.is === 'exact' && unread.n === 0) return [];
  const held = unread.is === 'exact' ? unread.n : null;
  return [
    { is: 'baseline_skipped', at: max, skipped: messages.length, range: [oldest, max], unread: held, why: state.why },
  ];
}
