import { foldName, type Instant } from '../model/index.ts';
import type { PersonaDirectory } from '../sources/index.ts';
import { type AddressActivity, classifyReader, NO_ACTIVITY } from './activity.ts';

/** What is true right now, whether or not it was delivered. Lists are sorted. */
export interface Judgement {
  readonly stranded: readonly string[];
  readonly dormant: readonly string[];
  readonly urgent: readonly string[];
  readonly urgentWriteOnly: readonly string[];
  /** Inboxes with urgent mail whose silence is not observed, because some inbox was not polled since. */
  readonly unobserved: readonly string[];
  /** Some inbox can only be judged by a directory that is newer than its mail. */
  readonly wantsDirectory: boolean;
}

const NOTHING: Judgement = {
  stranded: [],
  dormant: [],
  urgent: [],
  urgentWriteOnly: [],
  unobserved: [],
  wantsDirectory: false,
};

/**
 * Judges the inboxes of a hive.
 *
 * @param directory null: the members are unknown, so nothing is claimed
 * @param covered since when every watched inbox was polled and delivered, monotonic; null: some were not, so that mail
 * which a persona sent may be unseen, and its silence is not observable (Kijito contract, trap 50)
 */
export function judge(
  state: AlarmState,
  directory: PersonaDirectory | null,
  covered: number | null,
  rules: AlarmRules,
): Judgement {
  if (directory === null) return NOTHING;
  const stranded: string[] = [];
  const dormant: string[] = [];
  const urgent: string[] = [];
  const urgentWriteOnly: string[] = [];
  const unobserved: string[] = [];
  let wantsDirectory = false;
  for (const [address, held] of state.held) {
    const reader = classifyReader(address, directory, getActivity(state, address));
    if (reader === 'dormant' && rules.stranded) dormant.push(address);
    if ((reader === 'none' || reader === 'unlisted') && rules.stranded && held.polls >= STRANDED_POLLS) {
      if (directory.requestedAt > held.since) stranded.push(address);
      else wantsDirectory = true;
    }
    const member = directory.byAddress.get(address);
    if (!rules.urgent || member === undefined || member.retired || held.silence === null) continue;
    if (reader === 'none' || rules.suppressed.has(foldName(address))) continue;
    if (held.silence.polls < URGENT_POLLS) continue;
    const isObserved = covered !== null && covered >= held.silence.since;
    if (isObserved) (member.writeOnly ? urgentWriteOnly : urgent).push(address);
    else if (!member.writeOnly) unobserved.push(address);
  }
  for (const names of [stranded, dormant, urgent, urgentWriteOnly, unobserved]) names.sort();
  return { stranded, dormant, urgent, urgentWriteOnly, unobserved, wantsDirectory };
}

/**
 * One observation of a hive. `at` is monotonic, and `wall` is the same moment for a person.
 *
 * `polled`: one answer of the pending list. An absent address has no unread mail, and `newest` is the newest message
 * that was known at the poll before. `sent`: messages were delivered, so their senders did something. `unobserved`: the
 * list did not answer, or nobody watched, so what follows is not part of the same silence.
 */
type Observation = { readonly at: number } & (
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

/** The settings of the alarms of one hive. Times in this folder are monotonic milliseconds. */
export interface AlarmRules {
  readonly stranded: boolean;
  readonly urgent: boolean;
  /** Two answers closer than half of this count as one poll. */
  readonly pollMs: number;
  /** Senders whose mail makes no event, in the form that `foldName` returns. Their sending is never observed. */
  readonly suppressed: ReadonlySet<string>;
}

/** The number of polls for which mail lies unread before it counts as stranded, so that a reader has time to read it. */
export const STRANDED_POLLS = 3;
/** The number of consecutive polls of observed silence over urgent mail. */
export const URGENT_POLLS = 5;
/** The maximum number of addresses that are kept; the most recently observed ones stay. */
const MAX_OBSERVED = 5000;

/** An inbox with unread mail. */
interface UnreadInbox {
  readonly unread: number;
  readonly urgent: number;
  /** When its mail was first seen, and the number of polls since. */
  readonly since: number;
  readonly polls: number;
  /** Since when there is urgent mail and its reader did nothing, as far as was seen; null: there is none. */
  readonly urgentSince: number | null;
  /** The uninterrupted part of that silence that was observed; null: none now. */
  readonly silence: { readonly since: number; readonly polls: number } | null;
}

/** Everything that is known of one hive. Plain data. */
export interface AlarmState {
  readonly held: ReadonlyMap<string, UnreadInbox>;
  readonly observed: ReadonlyMap<string, AddressActivity>;
  /** When the last answer that counted as a poll arrived; null: none yet. */
  readonly polledAt: number | null;
  /** Names whose alarm was delivered and is not over, with the time since when the reported state holds. */
  readonly raised: { readonly stranded: ReadonlyMap<string, number>; readonly urgent: ReadonlyMap<string, number> };
}

export const NOTHING_OBSERVED: AlarmState = {
  held: new Map(),
  observed: new Map(),
  polledAt: null,
  raised: { stranded: new Map(), urgent: new Map() },
};

export function getActivity(state: AlarmState, address: string): AddressActivity {
  return state.observed.get(address) ?? NO_ACTIVITY;
}
