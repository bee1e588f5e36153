import { type Count, exactly, type Instant, UNKNOWN } from '../../../model/index.ts';
import type { PendingCounts, UnreadCounts } from '../../source.ts';
import { type AnswerReading, createAnswerFault, describeKind, type HiveAnswer, isCount, isRecord } from './answer.ts';
import { type DefectReporter, ignoreDefect } from './defects.ts';

const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };

/**
 * Parses one answer of `GET /api/notify/pending` (Kijito contract a). A persona that is absent has no unread messages. Without
 * `cursor` the server does not long-poll.
 * An entry that cannot be read is a defect and no failure. Without a name it says nothing about anybody. With a name, the counts
 * of that persona are unknown, so its inbox is fetched.
 * @throws Fault `shape` for the answer as a whole, also when no entry has a name
 */
export function parsePendingCounts(
  { envelope, result }: HiveAnswer,
  at: Instant,
  reading: AnswerReading,
  report: DefectReporter = ignoreDefect,
): PendingCounts {
  const byAddress = new Map<string, UnreadCounts>();
  for (const [index, value] of result.entries()) {
    const entry = isRecord(value) ? value : {};
    const { persona } = entry;
    if (typeof persona !== 'string' || persona === '') {
      report(
        index,
        isRecord(value) ? `its persona is ${describeKind(persona)}, not a name` : `it is ${describeKind(value)}`,
      );
    } else if (byAddress.has(persona)) {
      report(index, `${JSON.stringify(persona)} is listed twice`);
      byAddress.set(persona, UNKNOWN_COUNTS);
    } else {
      byAddress.set(
        persona,
        parseUnreadCounts(entry, persona, (detail) => report(index, detail)),
      );
    }
  }
  if (byAddress.size === 0 && result.length > 0) throw createAnswerFault(reading, 'shape', 'no entry of it has a name');
  const { cursor = null } = envelope;
  if (cursor !== null && typeof cursor !== 'string') {
    throw createAnswerFault(reading, 'shape', `"cursor" is ${describeKind(cursor)}, not a string`);
  }
  return { at, byAddress, cursor: cursor === '' ? null : cursor };
}

function parseUnreadCounts(
  { unread, unread_urgent: urgent }: Readonly<Record<string, unknown>>,
  persona: string,
  report: (detail: string) => void,
): UnreadCounts {
  const parseCount = (key: string, value: unknown): Count => {
    if (isCount(value)) return exactly(value);
    report(`"${key}" of ${JSON.stringify(persona)} is ${describeKind(value)}, not a count`);
    return UNKNOWN;
  };
  return {
    unread: parseCount('unread', unread),
    urgent: urgent === undefined ? UNKNOWN : parseCount('unread_urgent', urgent),
  };
}
