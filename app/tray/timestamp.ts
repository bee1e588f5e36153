import type { Instant } from '../../core/model/index.ts';

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|([+-])(\d\d):?(\d\d))?$/;

/**
 * Parses when a message was written. Sources may give any form or none. Without a zone it is UTC. Null when it cannot be parsed.
 */
export function parseTimestamp(created: string): Instant | null {
  const match = ISO.exec(created);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part = '0') => Number(part));
  const fraction = Number(match[7] ?? 0) * 1000;
  const zone = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * (match[8] === '-' ? -1 : 1);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) + fraction - zone * 60_000;
}
