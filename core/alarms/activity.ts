import { formatIso, type Instant, type PersonaId, parseIso, parseJson } from '../model/index.ts';
import type { DirectoryMember, PersonaDirectory } from '../sources/index.ts';

/** What was observed of the personas of a hive. Times are wall clock. */
export interface HiveActivity {
  readonly published: Instant;
  /** After this many milliseconds the report is stale: nobody publishes any more, and a later silence is not observed. */
  readonly staleAfterMs: number;
  readonly since: Instant;
  /** Every message after this one was seen in every watched inbox; null: this is not true of all inboxes yet. */
  readonly floor: number | null;
  /** Every watched inbox was polled when this message was known; null: some inboxes are blind. */
  readonly upTo: number | null;
  /** Inboxes that cannot prove a silence now, and why, as words after the name. */
  readonly blind: ReadonlyMap<string, string>;
  readonly personas: ReadonlyMap<string, PersonaActivity>;
}

export interface PersonaActivity extends AddressActivity {
  readonly watched: boolean;
}

/** The activity as it is published. */
export interface ActivityReport extends HiveActivity {
  /** The hive as JSON, in the form in which a saved position names its inbox (Kijito contract d); null: unknown. */
  readonly identity: unknown;
}

/** The maximum number of personas in one report. */
const MOST = 5000;
/** The maximum number of blind inboxes in one report. */
const MOST_BLIND = 100;

/**
 * Merges what this process and an earlier one observed of the same hive. An observation stays valid. The watched range
 * is only what this process knows.
 */
export function mergeEarlier(now: HiveActivity, earlier: ReadonlyMap<string, AddressActivity>): HiveActivity {
  const personas = new Map(now.personas);
  for (const [name, activity] of earlier) {
    const own = personas.get(name);
    personas.set(name, { watched: own?.watched ?? false, ...mergeActivity(own ?? NO_ACTIVITY, activity) });
  }
  return { ...now, personas };
}

export function formatActivityReport(report: ActivityReport): string {
  const { identity, published, staleAfterMs, since, floor, upTo, blind, personas } = report;
  const selected = [...personas].sort(([, a], [, b]) => computeRank(b) - computeRank(a)).slice(0, MOST);
  const entries = selected.map(([name, { watched, sent, read }]) => [
    name,
    {
      watched,
      sent: sent === null ? null : { id: sent.id, at: formatIso(sent.at) },
      read: read === null ? null : { after_id: read.after, at: formatIso(read.at) },
    },
  ]);
  return `${JSON.stringify({
    schema: 1,
    identity,
    published: formatIso(published),
    stale_after_seconds: staleAfterMs / 1000,
    observed_since: formatIso(since),
    observation_floor_id: floor,
    observed_to_id: upTo,
    blind: Object.fromEntries([...blind].slice(0, MOST_BLIND)),
    personas: Object.fromEntries(entries),
  })}\n`;
}

/** Ranks watched personas first, then the persona that was seen last. */
function computeRank({ watched, sent, read }: PersonaActivity): number {
  return watched ? Number.MAX_VALUE : Math.max(sent?.at ?? 0, read?.at ?? 0);
}

/** @returns null when the text is no whole report, because an unreadable file proves nothing about anybody */
export function parseActivityReport(text: string): ActivityReport | null {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return null; // a torn or foreign file is a valid answer here, not a failure
  }
  if (!isRecord(value) || value.schema !== 1 || !isRecord(value.personas)) return null;
  const blind = parseBlind(value.blind);
  if (blind === null) return null;
  const { published, observed_since: since, stale_after_seconds: stale } = value;
  const { observation_floor_id: floor, observed_to_id: upTo } = value;
  if (!isTime(published) || !isTime(since) || typeof stale !== 'number' || !(stale >= 0)) return null;
  if (!isIdOrNull(floor) || !isIdOrNull(upTo)) return null;
  const personas = new Map<string, PersonaActivity>();
  for (const [name, entry] of Object.entries(value.personas)) {
    if (!isRecord(entry) || typeof entry.watched !== 'boolean') return null;
    const sent = parseActivityEvent(entry.sent, 'id');
    const read = parseActivityEvent(entry.read, 'after_id');
    if (sent === undefined || read === undefined) return null;
    personas.set(name, {
      watched: entry.watched,
      sent,
      read: read === null ? null : { after: read.id, at: read.at },
    });
  }
  return {
    published: parseIso(published) as Instant,
    staleAfterMs: Math.round(stale * 1000),
    since: parseIso(since) as Instant,
    floor,
    upTo,
    blind,
    identity: value.identity ?? null,
    personas,
  };
}

/** Null: malformed. An older report has no such field. */
function parseBlind(value: unknown = {}): ReadonlyMap<string, string> | null {
  if (!isRecord(value)) return null;
  const blind = new Map<string, string>();
  for (const [name, why] of Object.entries(value)) {
    if (typeof why !== 'string') return null;
    blind.set(name, why);
  }
  return blind;
}

/** Undefined: malformed. */
function parseActivityEvent(
  value: unknown,
  key: string,
): { readonly id: number; readonly at: Instant } | null | undefined {
  if (value === null) return null;
  if (!isRecord(value) || !isId(value[key]) || !isTime(value.at)) return undefined;
  return { id: value[key], at: parseIso(value.at) as Instant };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isIdOrNull(value: unknown): value is number | null {
  return value === null || isId(value);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== null;
}

/** Active, silent in a watched span, or not observable. These are never confused (Kijito contract c). */
export type ActivityVerdict = { readonly is: 'active' | 'silent' | 'unobservable'; readonly words: string };

export interface ActivityQuestion {
  readonly persona: string;
  /** The persona is active if it did something after this message. */
  readonly sinceId: number;
  /** How often the asker has already waited, for the words only; null: unknown. */
  readonly waits: number | null;
}

/** Checks what a report shows of one persona. It states what was seen, never why (Kijito contract, trap 50). */
export function checkActivity(report: ActivityReport, question: ActivityQuestion, now: Instant): ActivityVerdict {
  const { persona, sinceId } = question;
  const observed = report.personas.get(persona);
  if (observed === undefined) return toUnobservable(`${persona}: this name is unknown`);
  const { sent, read } = observed;
  if (sent !== null && sent.id > sinceId)
    return { is: 'active', words: `${persona}: sent message ${sent.id}, seen ${formatIso(sent.at)}` };
  if (read !== null && read.after >= sinceId)
    return {
      is: 'active',
      words: `${persona}: mail was read there, seen ${formatIso(read.at)}, after message ${sinceId}`,
    };
  const why = findObstacle(report, observed, sinceId, now);
  if (why !== null) return toUnobservable(`${persona}: ${why}`);
  const waits = question.waits === null ? '' : ` after ${question.waits} ${question.waits === 1 ? 'wait' : 'waits'}`;
  return {
    is: 'silent',
    words: `${persona}: nothing was seen of it since message ${sinceId}${waits}; ${formatLast(observed)}`,
  };
}

/** Returns why silence cannot be derived from the report; null: it can. */
function findObstacle(report: ActivityReport, observed: PersonaActivity, sinceId: number, now: Instant): string | null {
  const { floor, upTo, published, staleAfterMs, blind } = report;
  if (!observed.watched) return 'its inbox is not watched';
  // The absolute distance counts, so that a wall clock that was set back makes no report fresh.
  if (Math.abs(now - published) > staleAfterMs)
    return `the report is from ${formatIso(published)}, and no watcher runs now`;
  if (floor !== null && floor > sinceId) return `messages before ${floor} were not watched`;
  if (blind.size > 0) return `it may have written to inboxes that cannot be polled now: ${formatBlind(blind)}`;
  if (floor === null) return 'some inboxes have no position yet';
  if (upTo === null) return 'some inboxes cannot be read now';
  if (upTo < sinceId) return `not every inbox was polled since message ${sinceId}, only up to message ${upTo}`;
  return null;
}

function formatLast({ sent, read }: PersonaActivity): string {
  const parts = [
    ...(sent === null ? [] : [`message ${sent.id} from it was seen ${formatIso(sent.at)}`]),
    ...(read === null ? [] : [`mail was read there ${formatIso(read.at)}`]),
  ];
  return parts.length === 0 ? 'nothing was seen of it before' : `before that, ${parts.join(' and ')}`;
}

function toUnobservable(words: string): ActivityVerdict {
  return { is: 'unobservable', words: `${words}: not observable` };
}

/** Why the content of an inbox is unknown. The words follow the name of the inbox. */
export type Blindness =
  | 'was not read'
  | 'has mail that could not be had'
  | 'has mail that was not taken'
  | 'is not watched';

/** What is known of a watched inbox. */
export interface WatchedInbox {
  readonly persona: { readonly id: PersonaId; readonly address: string };
  /** Null here and in `retryAt`: its last poll was complete and acknowledged, unless it is being delivered right now. */
  readonly walkAt: number | null;
  readonly retryAt: number | null;
  readonly isDelivering: boolean;
}

/**
 * Finds the inboxes that cannot prove a silence now, by address. A silent persona may have written there, so with one
 * such inbox no silence of the hive is observed (Kijito contract, trap 50).
 * @param members every address in the directory
 */
export function findBlind(
  watched: ReadonlyMap<string, WatchedInbox>,
  unread: ReadonlySet<PersonaId>,
  members: Iterable<string>,
): ReadonlyMap<string, Blindness> {
  const blind = new Map<string, Blindness>();
  for (const [address, { persona, walkAt, retryAt, isDelivering }] of watched) {
    if (unread.has(persona.id)) blind.set(address, 'was not read');
    else if (walkAt !== null) blind.set(address, 'has mail that could not be had');
    else if (retryAt !== null || isDelivering) blind.set(address, 'has mail that was not taken');
  }
  for (const address of members) if (!watched.has(address)) blind.set(address, 'is not watched');
  return blind;
}

/** The maximum number of inboxes that one line names. */
const MOST_NAMED = 3;

/** Formats the inboxes for a person: `cy was not read, di is not watched, and 4 more like these`. */
export function formatBlind(blind: ReadonlyMap<string, string>): string {
  const named = [...blind].slice(0, MOST_NAMED).map(([name, why]) => `${name} ${why}`);
  const unnamedCount = blind.size - named.length;
  return [...named, ...(unnamedCount > 0 ? [`and ${unnamedCount} more like these`] : [])].join(', ');
}

/**
 * What was observed of one address, exactly as spelled: `Ada` and `ada` are two inboxes (Kijito contract, trap 43).
 * Times are wall clock.
 */
export interface AddressActivity {
  /** The newest message that names this address as its sender. */
  readonly sent: { readonly id: number; readonly at: Instant } | null;
  /** The unread count went down, so somebody read mail there, while `after` was the newest known message. */
  readonly read: { readonly after: number; readonly at: Instant } | null;
}

export const NO_ACTIVITY: AddressActivity = { sent: null, read: null };

/** Merges what two watchers saw of one address. For the same message, the earlier time counts. */
function mergeActivity(a: AddressActivity, b: AddressActivity): AddressActivity {
  return { sent: findLater(a.sent, b.sent, (sent) => sent.id), read: findLater(a.read, b.read, (read) => read.after) };
}

function findLater<T extends { readonly at: Instant }>(
  a: T | null,
  b: T | null,
  id: (evidence: T) => number,
): T | null {
  if (a === null || b === null) return a ?? b;
  return id(a) > id(b) || (id(a) === id(b) && a.at <= b.at) ? a : b;
}

/** Who reads an inbox, according to the directory and to our own observations. */
type ReaderKind =
  /** A member that somebody works as, as far as we know. */
  | 'member'
  /** Nobody is expected to read here now: the member is retired, collected in another way, or was read once and owns nothing. */
  | 'dormant'
  /** There is no sign that anybody ever read here. */
  | 'none'
  /** The address is not in the directory. */
  | 'unlisted';

/** An unknown memory count is no answer, and no answer never means "nobody" (Kijito contract, trap 48). */
export function classifyReader(address: string, directory: PersonaDirectory, activity: AddressActivity): ReaderKind {
  const member = directory.byAddress.get(address);
  if (member?.retired || member?.writeOnly) return 'dormant';
  if (activity.sent !== null || activity.read !== null) return 'member';
  if (member === undefined) return 'unlisted';
  if (member.memories !== 0) return 'member';
  return hasReadMail(member) ? 'dormant' : 'none';
}

function hasReadMail({ mail }: DirectoryMember): boolean {
  return mail !== null && mail.unread < mail.total;
}
