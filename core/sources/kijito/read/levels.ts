import { type Count, exactly, type Instant, UNKNOWN } from '../../../model/index.ts';
import type { Level, Levels } from '../../source.ts';
import { type Answer, faultIn, isCount, isRecord, kindOf, type Reading } from './answer.ts';
import { noDefects, type ReportDefect } from './defects.ts';

const UNKNOWN_LEVEL: Level = { unread: UNKNOWN, urgent: UNKNOWN };

/**
 * One answer of `GET /api/notify/pending` (Kijito contract a). A persona that is absent has none unread; no `cursor`
 * means that the server does not long-poll. An entry that cannot be read is a defect and no failure: without a name it
 * says nothing of anybody, and with one the counts of that persona are unknown, so its inbox is fetched.
 * @throws Fault `shape` for the answer as a whole, also when no entry has a name
 */
export function levelsOf(
  { envelope, result }: Answer,
  at: Instant,
  reading: Reading,
  report: ReportDefect = noDefects,
): Levels {
  const of = new Map<string, Level>();
  for (const [index, value] of result.entries()) {
    const entry = isRecord(value) ? value : {};
    const { persona } = entry;
    if (typeof persona !== 'string' || persona === '') {
      report(index, isRecord(value) ? `its persona is ${kindOf(persona)}, not a name` : `it is ${kindOf(value)}`);
    } else if (of.has(persona)) {
      report(index, `${JSON.stringify(persona)} is listed twice`);
      of.set(persona, UNKNOWN_LEVEL);
    } else {
      of.set(
        persona,
        parseLevel(entry, persona, (what) => report(index, what)),
      );
    }
  }
  if (of.size === 0 && result.length > 0) throw faultIn(reading, 'shape', 'no entry of it has a name');
  const { cursor = null } = envelope;
  if (cursor !== null && typeof cursor !== 'string') {
    throw faultIn(reading, 'shape', `"cursor" is ${kindOf(cursor)}, not a string`);
  }
  return { at, of, cursor: cursor === '' ? null : cursor };
}

function parseLevel(
  { unread, unread_urgent: urgent }: Readonly<Record<string, unknown>>,
  persona: string,
  report: (what: string) => void,
): Level {
  const parseCount = (key: string, value: unknown): Count => {
    if (isCount(value)) return exactly(value);
    report(`"${key}" of ${JSON.stringify(persona)} is ${kindOf(value)}, not a count`);
    return UNKNOWN;
  };
  return {
    unread: parseCount('unread', unread),
    urgent: urgent === undefined ? UNKNOWN : parseCount('unread_urgent', urgent),
  };
}
