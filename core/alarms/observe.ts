import type { Instant } from '../model/index.ts';
import { NOT_SEEN, type Seen } from './evidence.ts';
import { type AlarmRules, type AlarmState, type Held, MOST_SEEN } from './state.ts';

/**
 * What happens to a hive. `at` is monotonic, `wall` the same for a person. `polled`: one answer of the pending list; an address that is absent has no
 * unread mail, and `newest` is the newest message that was known at the poll before. `sent`: messages were told, so their
 * senders did something. `unobserved`: the list did not answer, or nobody watched; what comes next is no part of the same
 * silence.
 */
export type Observation = { readonly at: number } & (
  | {
      readonly is: 'polled';
      readonly wall: Instant;
      readonly counts: ReadonlyMap<string, Counts>;
      readonly newest: number;
    }
  | { readonly is: 'sent'; readonly messages: readonly Sent[] }
  | { readonly is: 'unobserved' }
);

/** A message that was told, and when: monotonic, and for a person. */
export interface Sent {
  readonly from: string;
  readonly id: number;
  readonly at: number;
  readonly wall: Instant;
}

/** Null: not known. */
export interface Counts {
  readonly unread: number | null;
  readonly urgent: number | null;
}

/** One observation more. Pure. */
export function observe(state: AlarmState, seeing: Observation, rules: AlarmRules): AlarmState {
  switch (seeing.is) {
    case 'sent':
      return sent(state, seeing.messages);
    case 'unobserved':
      return { ...state, polledAt: null, held: new Map([...state.held].map(([name, held]) => [name, broken(held)])) };
    case 'polled':
      return polled(state, seeing, rules);
  }
}

function sent(state: AlarmState, messages: readonly Sent[]): AlarmState {
  const held = new Map(state.held);
  const seen = new Map(state.seen);
  for (const { from, id, at, wall } of messages) {
    const before = seen.get(from) ?? NOT_SEEN;
    if (before.sent !== null && before.sent.id >= id) continue; // told once more
    const own = held.get(from);
    if (own !== undefined && own.urgentSince !== null)
      held.set(from, { ...own, urgentSince: at, silence: own.silence && begun(own.urgent, at, 0) });
    remember(seen, from, { ...before, sent: { id, at: wall } });
  }
  return { ...state, held, seen };
}

function polled(
  state: AlarmState,
  { at, wall, counts, newest }: Extract<Observation, { is: 'polled' }>,
  rules: AlarmRules,
): AlarmState {
  const isPoll = state.polledAt === null || at - state.polledAt >= rules.pollMs / 2;
  const held = new Map<string, Held>();
  const seen = new Map(state.seen);
  const wasRead = (address: string): void =>
    remember(seen, address, { ...(seen.get(address) ?? NOT_SEEN), read: { after: newest, at: wall } });
  for (const [address, { unread, urgent }] of counts) {
    const before = state.held.get(address);
    if (unread === null) {
      if (before !== undefined) held.set(address, broken(before));
    } else if (unread > 0) {
      const isRead = before !== undefined && unread < before.unread;
      if (isRead) wasRead(address);
      held.set(address, heldNow(before, isRead, unread, urgent ?? 0, at, isPoll));
    }
  }
  for (const address of state.held.keys()) {
    const now = counts.get(address);
    if (now === undefined || now.unread === 0) wasRead(address);
  }
  return { ...state, held, seen, polledAt: isPoll ? at : state.polledAt };
}

function heldNow(
  before: Held | undefined,
  isRead: boolean,
  unread: number,
  urgent: number,
  at: number,
  isPoll: boolean,
): Held {
  const polls = isPoll ? 1 : 0;
  const quiet = before === undefined || isRead || urgent === 0 ? null : before.silence;
  const silence = quiet === null ? begun(urgent, at, 1) : { since: quiet.since, polls: quiet.polls + polls };
  const urgentSince = urgent === 0 ? null : isRead ? at : (before?.urgentSince ?? at);
  if (before === undefined) return { unread, urgent, since: at, polls: 1, urgentSince, silence };
  return { unread, urgent, since: before.since, polls: before.polls + polls, urgentSince, silence };
}

/** A silence that begins now, with a poll or between two, if there is anything urgent to be silent about. */
function begun(urgent: number, at: number, polls: 0 | 1): Held['silence'] {
  return urgent === 0 ? null : { since: at, polls };
}

function broken(held: Held): Held {
  return { ...held, silence: null };
}

/** What was observed last stands last, so that the first to be forgotten is the one nothing was heard of for longest. */
function remember(seen: Map<string, Seen>, address: string, now: Seen): void {
  seen.delete(address);
  seen.set(address, now);
  const [oldest] = seen.keys();
  if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest);
}
