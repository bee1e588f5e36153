import { Fault } from '../model/index.ts';
import { ITEM_TYPES, type ItemType, type Priority } from './item.ts';

/**
 * Parsers for the fields of an item, the same for every origin. The command line and HTTP refuse wrong values. A queue and the
 * relay cannot answer their sender, so they take the nearest valid value.
 */

/** Names that the oldest writers used for a message from one agent to another. */
const OLD_TYPES: Readonly<Record<string, ItemType>> = { nudge: 'agent' };
const SPANS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param field the sender's name for it. @throws Fault `usage` */
export function parseType(field: string, value: unknown): ItemType {
  const type = ITEM_TYPES.find((known) => known === value);
  if (type === undefined) throw createRefusal(field, value, ITEM_TYPES.join(', '));
  return type;
}

/** Parses a priority from a number, or from the digit as text. @throws Fault `usage` */
export function parsePriority(field: string, value: unknown): Priority {
  const isDigit = /^[0-4]$/.test(String(value)) && (typeof value === 'string' || typeof value === 'number');
  if (!isDigit) throw createRefusal(field, value, '0 (critical) to 4 (bulk)');
  return Number(value) as Priority;
}

/** Parses how long an item is shown, in milliseconds: `30s`, `10m`, `2h`, `1d`, or a number of seconds. @throws Fault `usage` */
export function parseTtl(field: string, value: unknown): number {
  const text = typeof value === 'number' ? `${value}s` : value;
  const [, count, unit = ''] = (typeof text === 'string' ? /^(\d{1,9})([smhd])$/.exec(text) : null) ?? [];
  const ms = Number(count) * (SPANS[unit] ?? Number.NaN);
  if (!(ms > 0)) throw createRefusal(field, value, 'how long, as 30s, 10m, 2h or 1d');
  return ms;
}

/** An absent or unknown type becomes `event`. */
export function toNearestType(value: unknown): ItemType {
  const known = ITEM_TYPES.find((type) => type === value);
  if (known !== undefined) return known;
  return typeof value === 'string' && Object.hasOwn(OLD_TYPES, value) ? (OLD_TYPES[value] ?? 'event') : 'event';
}

/**
 * An absent priority, or one that is not a number, becomes 2, never critical (contract 2). Values outside the range are clamped.
 */
export function toNearestPriority(value: unknown): Priority {
  if (typeof value !== 'number' || Number.isNaN(value)) return 2;
  return (Math.round(Math.min(4, Math.max(0, value))) + 0) as Priority;
}

function createRefusal(field: string, value: unknown, say: string): Fault {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const cut = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return new Fault('usage', `${field} ${cut.toWellFormed()}: say ${say}`, { is: 'machine', key: 'usage' });
}
