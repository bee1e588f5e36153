import type { Instant } from '../model/index.ts';
import { type AddressActivity, NO_ACTIVITY } from './address-activity.ts';
import { type AlarmRules, type AlarmState, MAX_OBSERVED, type UnreadInbox } from './alarm-state.ts';

/**
 * One observation of a hive. `at` is monotonic, and `wall` is the same moment for a person.
 *
 * `polled`: one answer of the pending list. An absent address has no unread mail, and `newest` is the newest message
 * that was known at the poll before. `sent`: messages were delivered, so their senders did something. `unobserved`: the
 * list did not answer, or nobody watched, so what follows is not part of the same silence.
 */
export type Observation = { readonly at: number } & (
  | {
      readonly is: 'polled';
      readonly wall: Instant;
      readonly counts: ReadonlyMap<string, PolledCounts>;
      readonly newest: number;
    }
  | { readonly is: 'sent'; readonly messages: readonly SentMessage[] }
  | { readonly is: 'unobserved' }
);

/** A delivered message and when it was delivered: monotonic, and for a person. */
export interface SentMessage {
  readonly from: string;
  readonly id: number;
  readonly at: number;
  readonly wall: Instant;
}

/** Null: not known. */
export interface PolledCounts {
  readonly unread: number | null;
  readonly urgent: number | null;
}

/** Adds one observation. Pure. */
export function observe(state: AlarmState, seeing: Observation, rules: AlarmRules): AlarmState {
  switch (seeing.is) {
    case 'sent':
      return applySent(state, seeing.messages);
    case 'unobserved':
      return {
        ...state,
        polledAt: null,
        held: new Map([...state.held].map(([name, held]) => [name, breakSilence(held)])),
      };
    case 'polled':
      return applyPolled(state, seeing, rules);
  }
}

function applySent(state: AlarmState, messages: readonly SentMessage[]): AlarmState {
  const held = new Map(state.held);
  const observed = new Map(state.observed);
  for (const { from, id, at, wall } of messages) {
    const before = observed.get(from) ?? NO_ACTIVITY;
    if (before.sent !== null && before.sent.id >= id) continue; // delivered once more
    const own = held.get(from);
    if (own !== undefined && own.urgentSince !== null)
      held.set(from, { ...own, urgentSince: at, silence: own.silence && beginSilence(own.urgent, at, 0) });
    remember(observed, from, { ...before, sent: { id, at: wall } });
  }
  return { ...state, held, observed };
}

function applyPolled(
  state: AlarmState,
  { at, wall, counts, newest }: Extract<Observation, { is: 'polled' }>,
  rules: AlarmRules,
): AlarmState {
  const isPoll = state.polledAt === null || at - state.polledAt >= rules.pollMs / 2;
  const held = new Map<string, UnreadInbox>();
  const observed = new Map(state.observed);
  const rememberRead = (address: string): void =>
    remember(observed, address, { ...(observed.get(address) ?? NO_ACTIVITY), read: { after: newest, at: wall } });
  for (const [address, { unread, urgent }] of counts) {
    const before = state.held.get(address);
    if (unread === null) {
      if (before !== undefined) held.set(address, breakSilence(before));
    } else if (unread > 0) {
      const isRead = before !== undefined && unread < before.unread;
      if (isRead) rememberRead(address);
      held.set(address, toUnreadInbox(before, isRead, unread, urgent ?? 0, at, isPoll));
    }
  }
  for (const address of state.held.keys()) {
    const now = counts.get(address);
    if (now === undefined || now.unread === 0) rememberRead(address);
  }
  return { ...state, held, observed, polledAt: isPoll ? at : state.polledAt };
}

function toUnreadInbox(
  before: UnreadInbox | undefined,
  isRead: boolean,
  unread: number,
  urgent: number,
  at: number,
  isPoll: boolean,
): UnreadInbox {
  const polls = isPoll ? 1 : 0;
  const quiet = before === undefined || isRead || urgent === 0 ? null : before.silence;
  const silence = quiet === null ? beginSilence(urgent, at, 1) : { since: quiet.since, polls: quiet.polls + polls };
  const urgentSince = urgent === 0 ? null : isRead ? at : (before?.urgentSince ?? at);
  if (before === undefined) return { unread, urgent, since: at, polls: 1, urgentSince, silence };
  return { unread, urgent, since: before.since, polls: before.polls + polls, urgentSince, silence };
}

/** Begins a silence, with a poll or between two, if there is anything urgent to be silent about. */
function beginSilence(urgent: number, at: number, polls: 0 | 1): UnreadInbox['silence'] {
  return urgent === 0 ? null : { since: at, polls };
}

function breakSilence(held: UnreadInbox): UnreadInbox {
  return { ...held, silence: null };
}

/** Keeps the most recent observation last, so that the oldest one is dropped first. */
function remember(observed: Map<string, AddressActivity>, address: string, now: AddressActivity): void {
  observed.delete(address);
  observed.set(address, now);
  const [oldest] = observed.keys();
  if (observed.size > MAX_OBSERVED && oldest !== undefined) observed.delete(oldest);
}
