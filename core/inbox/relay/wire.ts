import { formatIso, type Instant, parseJson } from '../../model/index.ts';
import { toNearestPriority, toNearestType } from '../item-fields.ts';
import { toForeignKey } from '../new-item.ts';
import type { KeyedItem } from './keyed-item.ts';
import { parseAddressee } from './names.ts';

/** What the stream itself says of a message. */
export interface StreamEnvelope {
  readonly subject: string;
  /** When the stream stored the message. */
  readonly time: Instant;
  /** The key of a message without one: its place in the stream, the same at each delivery. */
  readonly place: string;
}

export type ItemParseResult =
  | { readonly is: 'item'; readonly item: KeyedItem }
  | { readonly is: 'bad'; readonly why: string };

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
  if (to === null) return toBadItem(`the subject ${subject} is nobody's`);
  let body: unknown;
  try {
    body = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch (error) {
    return toBadItem(`no JSON (${error instanceof Error ? error.message.slice(0, 80) : 'unreadable'})`);
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return toBadItem('no object');
  const { type, source, content, priority, session_id, created_at, expires_at, dedup_key } = body as Record<
    string,
    unknown
  >;
  if (typeof source !== 'string' || source === '') return toBadItem(`the source ${formatValue(source)} is no name`);
  if (typeof content !== 'string') return toBadItem('the content is no text');
  const created = created_at === undefined || created_at === null ? time : parseInstant(created_at);
  if (created === null) return toBadItem(`created_at ${formatValue(created_at)} is no time`);
  const expires = expires_at === undefined || expires_at === null ? null : parseInstant(expires_at);
  if (expires === null && typeof expires_at === 'string')
    return toBadItem(`expires_at ${formatValue(expires_at)} is no time`);
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
  return (JSON.stringify(value) ?? 'that is missing').slice(0, 60);
}
