import { formatIso, parseJson } from '../../model/index.ts';
import type { MessageHead, ParsedMessage } from '../mail-folders/index.ts';

/** The person's own mailbox (AMQ contract 1). */
export const USER = 'user';

const FENCE = '---';
const OPENING = /^---(?:json)?[ \t]*\r?\n/;
const HEADER_LIMITS = { chars: 64 * 1024, depth: 32, values: 4096 };
const NOT_QUIET: ReadonlySet<unknown> = new Set(['question', 'decision']);

/** Parses the beginning of a message file: a JSON header between two fences, then Markdown. Null when it is none. */
export function parseAmqMessage({
  bytes,
  name,
  address,
}: Pick<MessageHead, 'bytes' | 'name' | 'address'>): ParsedMessage | null {
  const split = splitFrontMatter(new TextDecoder().decode(bytes));
  if (split === null) return null;
  const { header, body } = split;
  const text = (key: string): string | null => {
    const value = header[key];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const extra: Record<string, string> = { message: toMessageId(name) };
  for (const key of ['thread', 'kind', 'subject', 'priority']) {
    const value = text(key);
    if (value !== null) extra[key] = value;
  }
  const created = parseNanoTime(text('created') ?? '') ?? parseNameTime(name);
  return {
    appeared: isForPerson(extra, address) ? 'question' : (EVENTS.get(extra.kind ?? '') ?? 'new'),
    from: text('from'),
    created: created === null ? null : formatIso(created[0] * 1000 + created[1] / 1e6),
    order: created ?? [0, 0],
    content: body,
    extra,
  };
}

/** What AMQ calls a message: its file name without the ending. */
const toMessageId = (name: string): string => name.replace(/\.md$/, '');

const EVENTS: ReadonlyMap<string, ParsedMessage['appeared']> = new Map([
  ['todo', 'assigned'],
  ['review_request', 'handoff'],
]);

/** Whether a person must answer, because nobody else reads this mailbox. */
function isForPerson({ kind }: ParsedMessage['extra'], address: string): boolean {
  return address === USER && NOT_QUIET.has(kind);
}

export function isUrgentMessage(extra: ParsedMessage['extra'], address: string): boolean {
  return extra.priority === 'urgent' || isForPerson(extra, address);
}

/** Splits a file into its header and its body. Null without a whole header. */
export function splitFrontMatter(
  text: string,
): { readonly header: Readonly<Record<string, unknown>>; readonly body: string } | null {
  const opening = OPENING.exec(text);
  if (opening === null) return null;
  const start = opening[0].length;
  // A line of JSON is no fence, because a string of JSON holds no line end.
  for (let at = start; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    if (text.slice(at, end).trimEnd() === FENCE) {
      const header = parseObject(text.slice(start, at));
      return header === null ? null : { header, body: text.slice(end + 1).trim() };
    }
    if (newline === -1) return null;
    at = newline + 1;
  }
  return null;
}

/** A JSON object that another program wrote; null for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseJson(text, HEADER_LIMITS);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // half a file, or none of this program
  }
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Parses an RFC 3339 time to seconds since 1970 and nanoseconds, which a number does not hold. Null for any other text. */
export function parseNanoTime(text: string): readonly [number, number] | null {
  const match = RFC_3339.exec(text);
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const offset = (part(9) * 60 + part(10)) * 60 * (match[8] === '-' ? -1 : 1);
  const at = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6));
  return [at / 1000 - offset, Number((match[7] ?? '').padEnd(9, '0'))];
}

/** The time in a file name: `2026-08-22T10-00-01.000Z_pid100_0000aa01.md`. */
function parseNameTime(name: string): readonly [number, number] | null {
  const [stamp = ''] = name.split('_', 1);
  const [day = '', time = ''] = stamp.split('T');
  return parseNanoTime(`${day}T${time.replaceAll('-', ':')}`);
}
