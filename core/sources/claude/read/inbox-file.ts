import { createHash } from 'node:crypto';
import { JsonRefusal, parseJson } from '../../../model/index.ts';
import { readKind, type TeamMessage, toText } from './team-files.ts';

/** The content of an inbox file, with what the next parse of the same file can use again. */
export interface TeamInboxContent {
  readonly messages: readonly TeamMessage[];
  /** What is wrong with entries of it, one line each. */
  readonly defects: readonly string[];
  readonly bytes: Buffer;
  readonly parts: readonly InboxPart[];
}

/** One entry of the list, and where it is in the file. */
interface InboxPart {
  readonly start: number;
  readonly end: number;
  /** A text: what is wrong with it. Null: it concerns the programs alone. */
  readonly message: Omit<TeamMessage, 'key'> | string | null;
  /** Its id; null where it has none. */
  readonly id: string | null;
  /** A hash of it, for a key where it has no id. */
  readonly hash: string;
}

const MOST_PARTS = 100_000;
const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Array.from('"\\,[]{}', (sign) =>
  sign.charCodeAt(0),
);

/**
 * Parses a file that is a list of messages. Such a file may have thousands of entries, of which most are as they were: these are not
 * parsed again.
 * @param before the content of the same file when it was read last
 * @throws SyntaxError for anything but a whole list
 */
export function parseTeamInbox(bytes: Buffer, before: TeamInboxContent | null = null): TeamInboxContent {
  if (before !== null && bytes.equals(before.bytes)) return before;
  const same = before === null ? 0 : countEqual(bytes, before.bytes);
  const parts: InboxPart[] = before?.parts.filter(({ end }) => end < same) ?? [];
  let at = skipBlanks(bytes, parts.at(-1)?.end ?? 0);
  if (parts.length === 0) {
    if (bytes[at] !== OPEN_LIST) throw new SyntaxError('is no list of messages');
    at = skipBlanks(bytes, at + 1);
    if (bytes[at] !== CLOSE_LIST) at = readPart(bytes, at, parts);
  }
  while (bytes[at] === COMMA) at = readPart(bytes, skipBlanks(bytes, at + 1), parts);
  if (bytes[at] !== CLOSE_LIST || skipBlanks(bytes, at + 1) < bytes.length)
    throw new SyntaxError(`is cut off after ${bytes.length} bytes, or is no JSON`);
  return { ...toContent(parts), bytes, parts };
}

/** Reads one entry. @returns where the next sign after it is */
function readPart(bytes: Buffer, start: number, parts: InboxPart[]): number {
  if (parts.length >= MOST_PARTS) throw new JsonRefusal(`has more than ${MOST_PARTS} entries`);
  const end = findValueEnd(bytes, start);
  const text = bytes.toString('utf8', start, end);
  parts.push({ start, end, ...parsePart(parseJson(text)) });
  return skipBlanks(bytes, end);
}

/** Where a value ends. What is no JSON in it is found when it is parsed. */
function findValueEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const sign = bytes[at];
    if (sign === QUOTE) at = findStringEnd(bytes, at);
    else if (sign === OPEN || sign === OPEN_LIST) depth += 1;
    else if (sign === CLOSE || sign === CLOSE_LIST || sign === COMMA) {
      if (depth === 0) return at;
      if (sign !== COMMA) depth -= 1;
      if (depth === 0 && sign !== COMMA) return at + 1;
    }
  }
  return bytes.length;
}

function findStringEnd(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf('"', start + 1); at !== -1; at = bytes.indexOf('"', at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return bytes.length;
}

function skipBlanks(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** How many bytes at their beginning are equal. */
function countEqual(a: Buffer, b: Buffer): number {
  let [low, high] = [0, Math.min(a.length, b.length)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (a.subarray(low, middle).equals(b.subarray(low, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function parsePart(entry: unknown): Omit<InboxPart, 'start' | 'end'> {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return { message: 'is no message', id: null, hash: '' };
  const { from, text, timestamp, read, summary, msg_id: id } = entry as Readonly<Record<string, unknown>>;
  if (typeof text !== 'string') return { message: 'has no text', id: null, hash: '' };
  const kind = readKind(text);
  if (kind === null) return { message: null, id: null, hash: '' };
  const [sender, created] = [toText(from) ?? '', toText(timestamp)];
  const hash = createHash('sha256')
    .update(JSON.stringify([sender, created ?? '', text]))
    .digest('hex')
    .slice(0, 24);
  return {
    message: { kind, from: sender, text, created, summary: toText(summary), isRead: read === true },
    id: typeof id === 'string' && /^[\w-]{8,64}$/.test(id) ? id : null,
    hash,
  };
}

/** Gives each message its key: its id, else a hash of it and which of the equal ones it is. */
function toContent(parts: readonly InboxPart[]): Pick<TeamInboxContent, 'messages' | 'defects'> {
  const messages: TeamMessage[] = [];
  const defects: string[] = [];
  const ordinals = new Map<string, number>();
  for (const [i, { message, id, hash }] of parts.entries()) {
    if (message === null) continue;
    if (typeof message === 'string') {
      defects.push(`entry ${i + 1} ${message}`);
      continue;
    }
    const ordinal = (ordinals.get(hash) ?? 0) + 1;
    if (id === null) ordinals.set(hash, ordinal);
    messages.push({ ...message, key: id ?? `${hash}-${ordinal}` });
  }
  return { messages, defects };
}
