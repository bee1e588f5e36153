import { formatRest } from '../../../format/index.ts';
import { type Count, exactly, type Instant, UNKNOWN } from '../../../model/index.ts';
import type { Log } from '../../../ports/index.ts';
import type { DirectoryMember, PendingCounts, UnreadCounts } from '../../source.ts';
import { type AnswerReading, createAnswerFault, describeKind, type HiveAnswer, isCount, isRecord } from './page.ts';

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

/**
 * Parses one answer of `GET /api/personas`: the names in the server's spelling and order, with what it says about each. Names are
 * case-sensitive, so `Ada` and `ada` are two; a repeated name counts once (Kijito contract a, trap 43).
 * A field that is absent or of another type counts as not reported. `projects[].count` is never summed, since it leaves memories
 * out. An entry without a name is a defect, and the others count.
 * @throws Fault `shape` when no entry has a name: a directory without personas is no answer
 */
export function parseDirectory(
  { result }: HiveAnswer,
  reading: AnswerReading,
  report: DefectReporter = ignoreDefect,
): ReadonlyMap<string, DirectoryMember> {
  const directory = new Map<string, DirectoryMember>();
  let unreadable: string | null = null;
  for (const [index, value] of result.entries()) {
    const entry = isRecord(value) ? value : {};
    const { persona } = entry;
    if (typeof persona !== 'string' || persona === '') {
      const detail = isRecord(value)
        ? `its persona is ${describeKind(persona)}, not a name`
        : `it is ${describeKind(value)}`;
      report(index, detail);
      unreadable ??= `the first of ${result.length} ${result.length === 1 ? 'entry' : 'entries'}: ${detail}`;
      continue;
    }
    if (!directory.has(persona)) directory.set(persona, parseMember(entry));
  }
  if (directory.size === 0) {
    throw createAnswerFault(reading, 'shape', `it lists no persona${unreadable === null ? '' : ` (${unreadable})`}`);
  }
  return directory;
}

function parseMember(entry: Readonly<Record<string, unknown>>): DirectoryMember {
  const { memory_count: memories, mail_total: total, unread } = entry;
  return {
    memories: isCount(memories) ? memories : null,
    retired: entry.retired === true || entry.reserved === true,
    writeOnly: entry.write_only === true,
    mail: isCount(total) && isCount(unread) ? { total, unread } : null,
  };
}

/** Reports an entry of a list that cannot be read. The other entries count as usual. */
type DefectReporter = (index: number, detail: string) => void;

const ignoreDefect: DefectReporter = () => {};

/** How many entries one log line names. */
const MOST_NAMED = 3;

/** Logs which entries of a list cannot be read: when they change, and when all can be read again. */
interface ListDefects {
  /** Reads one answer and logs what `read` reports, unless the answer before had the same defects. */
  collect<T>(read: (report: DefectReporter) => T): T;
}

export function createListDefects(list: () => string, log: Log): ListDefects {
  let before = '';
  return {
    collect(read) {
      const defects: string[] = [];
      try {
        return read((index, detail) => void defects.push(`entry ${index}: ${detail}`));
      } finally {
        logDefects(defects);
      }
    },
  };

  function logDefects(defects: readonly string[]): void {
    const named = defects.slice(0, MOST_NAMED).join('; ');
    const now = defects.length > MOST_NAMED ? `${named};${formatRest(defects.length - MOST_NAMED)}` : named;
    if (now !== before) {
      if (now === '') log.info(`${list()}: every entry can be read again`);
      else log.warn(`${list()}: ${now}. The other entries are used.`);
    }
    before = now;
  }
}
