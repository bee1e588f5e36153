import type { DirectoryMember } from '../../source.ts';
import { type AnswerReading, createAnswerFault, describeKind, type HiveAnswer, isCount, isRecord } from './answer.ts';
import { type DefectReporter, ignoreDefect } from './defects.ts';

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
