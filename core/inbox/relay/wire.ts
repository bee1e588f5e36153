import { createHash } from 'node:crypto';
import { formatIso, type Instant, parseJson } from '../../model/index.ts';
import { type Addressee, type NewItem, toNearestPriority, toNearestType } from '../item.ts';
import { toForeignKey } from '../new-item.ts';

/** What the stream itself says of a message. */
interface StreamEnvelope {
  readonly subject: string;
  /** When the stream stored the message. */
  readonly time: Instant;
  /** The key of a message without one: its place in the stream, the same at each delivery. */
  readonly place: string;
}

type ItemParseResult = { readonly is: 'item'; readonly item: KeyedItem } | { readonly is: 'bad'; readonly why: string };

/** Formats an item for the stream, with the keys of the contract (inbox and gates 2). */
export function formatWireMessage(item: KeyedItem): string {
  return JSON.stringify({
    agent_name: item.to.is === 'persona' ? item.to.name : 'all',
    session_id: item.session,
    type: item.type,
    source: item.source,
    content: item.content,
    priority: item.priority,
    created_at: formatIso(item.created),
    expires_at: item.expires === null ? null : formatIso(item.expires),
    dedup_key: item.dedupKey,
  });
}

/**
 * Parses a message of any sender as an item. The subject determines the addressee; unknown keys are ignored. An unknown type or
 * priority becomes the nearest one, as in a queue, so that no text is lost. Without a priority it is normal, never critical
 * (contract 2). A key that only Hivebar itself may use is renamed.
 */
export function parseWireItem(data: Uint8Array, { subject, time, place }: StreamEnvelope): ItemParseResult {
  const to = parseAddressee(subject);
  if (to === null) return toBadItem(`the subject ${subject} belongs to no persona`);
  let body: unknown;
  try {
    body = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch (error) {
    return toBadItem(`not JSON (${error instanceof Error ? error.message.slice(0, 80) : 'unreadable'})`);
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return toBadItem('not an object');
  const { type, source, content, priority, session_id, created_at, expires_at, dedup_key } = body as Record<
    string,
    unknown
  >;
  if (typeof source !== 'string' || source === '') return toBadItem(`the source ${formatValue(source)} is not a name`);
  if (typeof content !== 'string') return toBadItem('the content is not text');
  const created = created_at === undefined || created_at === null ? time : parseInstant(created_at);
  if (created === null) return toBadItem(`created_at ${formatValue(created_at)} is not a time`);
  const expires = expires_at === undefined || expires_at === null ? null : parseInstant(expires_at);
  if (expires === null && typeof expires_at === 'string')
    return toBadItem(`expires_at ${formatValue(expires_at)} is not a time`);
  const session = typeof session_id === 'string' && session_id !== '' ? session_id : null;
  const dedupKey = typeof dedup_key === 'string' && dedup_key !== '' ? toForeignKey(dedup_key) : place;
  const kind = { type: toNearestType(type), priority: toNearestPriority(priority) };
  return { is: 'item', item: { to, ...kind, source, content, session, created, expires, dedupKey } };
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Parses an RFC 3339 time with any offset (contract 8, defect 12); null: it is not one. */
export function parseInstant(text: unknown): Instant | null {
  const match = typeof text === 'string' ? RFC3339.exec(text) : null;
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, hours = 0, minutes = 0] = match;
  const at = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Math.min(59, Number(second)),
  );
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const ms = Math.floor(Number(`0${fraction}`) * 1000);
  return at + ms - (sign === '-' ? -offset : offset);
}

function toBadItem(why: string): ItemParseResult {
  return { is: 'bad', why };
}

function formatValue(value: unknown): string {
  return (JSON.stringify(value) ?? '(missing)').slice(0, 60);
}

/** The stream and its subjects (inbox and gates, contract 7). */
export const STREAM = 'INBOX_EVENTS';
export const SUBJECTS = 'inbox.>';
/** The subject of broadcasts. */
export const ALL_SUBJECT = 'inbox.all';
const AGENT = 'inbox.agent.';
/** The prefix of the subjects where each machine announces its residents. */
const MACHINE = 'inbox.machine.';
export const MACHINES = `${MACHINE}*`;

export function toMachineSubject(machine: string): string {
  return `${MACHINE}${machine}`;
}

/**
 * Encodes a name as a token of a subject and as a file name: a-z, 0-9 and `-` stay, every other byte of its UTF-8 becomes `_` and
 * two hex digits. So no dot, space, `*`, `>` or slash is left, and different names stay different on a disk that ignores case. A
 * lone surrogate, which no encoding can carry, becomes U+FFFD.
 */
export function encodeName(name: string): string {
  let token = '';
  for (const byte of Buffer.from(name, 'utf8')) {
    const char = String.fromCharCode(byte);
    token += /[a-z0-9-]/.test(char) ? char : `_${byte.toString(16).padStart(2, '0')}`;
  }
  return token;
}

/** The inverse of `encodeName`; null: `encodeName` never returns this. */
export function decodeName(token: string): string | null {
  if (!/^(?:[a-z0-9-]|_[0-9a-f]{2})+$/.test(token)) return null;
  const bytes = token.match(/_..|./g)?.map((part) => toByte(part)) ?? [];
  const name = Buffer.from(bytes).toString('utf8');
  return encodeName(name) === token ? name : null;
}

function toByte(part: string): number {
  return part.length === 3 ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0);
}

export function toSubject(to: Addressee): string {
  return to.is === 'everyone' ? ALL_SUBJECT : `${AGENT}${encodeName(to.name)}`;
}

/** Null: the subject belongs to nobody. */
export function parseAddressee(subject: string): Addressee | null {
  if (subject === ALL_SUBJECT) return { is: 'everyone' };
  const name = subject.startsWith(AGENT) ? decodeName(subject.slice(AGENT.length)) : null;
  return name === null ? null : { is: 'persona', name };
}

/** A position in the stream that the server keeps for us. */
export interface Durable {
  readonly name: string;
  readonly subjects: readonly [string, ...string[]];
}

/** From this version on one durable may have several subjects (substrate E). */
const MANY_SUBJECTS = [2, 10] as const;

/**
 * The durables of one machine: below 2.10 one per subject, from 2.10 on one for all. Every name contains the machine. Otherwise
 * two machines with the same persona would share a durable, and each message would reach only one of them (contract 8,
 * defect 10).
 * @param machine of a-z and 0-9
 */
export function createDurables(
  serverVersion: string,
  machine: string,
  personas: readonly string[],
): readonly Durable[] {
  const agents = [...new Set(personas)].sort().map((name) => ({ name, subject: toSubject({ is: 'persona', name }) }));
  if (isAtLeast(serverVersion, MANY_SUBJECTS)) {
    return [{ name: `inbox-${machine}`, subjects: [ALL_SUBJECT, ...agents.map(({ subject }) => subject)] }];
  }
  return [
    { name: `inbox-${machine}--all`, subjects: [ALL_SUBJECT] },
    ...agents.map(
      ({ name, subject }): Durable => ({
        name: `inbox-${shortenToken(encodeName(name))}-${machine}`,
        subjects: [subject],
      }),
    ),
  ];
}

/** Compares versions such as `2.9.10` or `2.10.0-beta.1`; any other text counts as an old version. */
export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  if (match === null) return false;
  const [, a = 0, b = 0] = match.map(Number);
  return a > major || (a === major && b >= minor);
}

/** The server keeps a durable in a directory with its name, of at most 255 characters. `__` occurs in no encoded name. */
function shortenToken(token: string): string {
  if (token.length <= 160) return token;
  return `${token.slice(0, 100)}__${createHash('sha256').update(token).digest('hex').slice(0, 32)}`;
}

/** The name of an item in the stream: a key identifies one item per persona. */
export function formatItemName({ to, dedupKey }: Pick<KeyedItem, 'to' | 'dedupKey'>): string {
  return `${toSubject(to)}:${dedupKey}`;
}

/** The id by which the server recognises repetitions: the name of the item, or its hash if a header cannot carry the name. */
export function toMessageId(name: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(name)) return name;
  return `sha256:${createHash('sha256').update(name).digest('hex')}`;
}

/** An item with the key that identifies it on every machine. */
export type KeyedItem = NewItem & { readonly dedupKey: string };
