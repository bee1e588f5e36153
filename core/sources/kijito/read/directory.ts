import type { Member } from '../../source.ts';
import { type Answer, faultIn, isCount, isRecord, kindOf, type Reading } from './answer.ts';
import { noDefects, type ReportDefect } from './defects.ts';

/**
 * One answer of `GET /api/personas`: the names as the server spells them, in its order, with what it says of each. Names
 * are case-sensitive there, so `Ada` and `ada` are two; a name that comes twice is one (Kijito contract a, trap 43). A
 * field that is absent or of another type is not said; `projects[].count` is never summed, since it leaves memories out.
 * An entry without a name is a defect, and the others count.
 * @throws Fault `shape` when no entry has a name: nobody to watch is no answer
 */
export function rollOf(
  { result }: Answer,
  reading: Reading,
  report: ReportDefect = noDefects,
): ReadonlyMap<string, Member> {
  const roll = new Map<string, Member>();
  let unreadable: string | null = null;
  for (const [index, value] of result.entries()) {
    const entry = isRecord(value) ? value : {};
    const { persona } = entry;
    if (typeof persona !== 'string' || persona === '') {
      const what = isRecord(value) ? `its persona is ${kindOf(persona)}, not a name` : `it is ${kindOf(value)}`;
      report(index, what);
      unreadable ??= `the first of ${result.length} ${result.length === 1 ? 'entry' : 'entries'}: ${what}`;
      continue;
    }
    if (!roll.has(persona)) roll.set(persona, memberOf(entry));
  }
  if (roll.size === 0) {
    throw faultIn(reading, 'shape', `it lists no persona${unreadable === null ? '' : ` (${unreadable})`}`);
  }
  return roll;
}

function memberOf(entry: Readonly<Record<string, unknown>>): Member {
  const { memory_count: memories, mail_total: total, unread } = entry;
  return {
    memories: isCount(memories) ? memories : null,
    retired: entry.retired === true || entry.reserved === true,
    writeOnly: entry.write_only === true,
    mail: isCount(total) && isCount(unread) ? { total, unread } : null,
  };
}
