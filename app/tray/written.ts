import type { Instant } from '../../core/model/index.ts';

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|([+-])(\d\d):?(\d\d))?$/;

/** When a message says it was written; its source may give any form or none. Without a zone it is UTC. Null: no telling. */
export function writtenAt(created: string): Instant | null {
  const found = ISO.exec(created);
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part = '0') => Number(part));
  const fraction = Number(found[7] ?? 0) * 1000;
  const zone = (Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0)) * (found[8] === '-' ? -1 : 1);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) + fraction - zone * 60_000;
}
