import { createHash } from 'node:crypto';
import { type Instant, parseJson } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import { createRefusal, type Disk, type LockWay, openLocked, toIoFault } from '../../state/index.ts';
import { type NewItem, OWN_KEYS, toNearestPriority, toNearestType } from '../item.ts';
import { isOwnKey, MAX_CONTENT, MAX_NAME } from '../new-item.ts';

/** What a line of the queue says. The file that holds the line determines the persona. */
export type QueueEntry = Omit<NewItem, 'to' | 'session'>;

export type EntryParseResult =
  | { readonly is: 'entry'; readonly entry: QueueEntry }
  | { readonly is: 'bad'; readonly why: string };

/** Longest key that the store accepts, in characters. */
const MAX_KEY = 500;
const LAST_INSTANT = 8.64e15;
const NO_SOURCE = 'queue';

/**
 * Parses a line of the queue (inbox and gates 2). It is lenient where a detail would lose a message. Every field but `content`
 * may be absent, null or a zero value of Go, and unknown fields are ignored. An unknown `type` becomes `event`, a priority
 * outside 0-4 the nearest one, and a blank `source` becomes `queue`. A field of a wrong type makes the line bad.
 *
 * @param now used for an absent `timestamp`
 */
export function parseEntry(line: string, now: Instant): EntryParseResult {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    return toBadEntry(error instanceof Error ? error.message : String(error));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return toBadEntry('not a JSON object');
  const { id, type, source, content, priority, timestamp, dedup_key: key, ttl_seconds: ttl } = dropNulls(value);
  if (typeof content !== 'string') return toBadEntry('"content" is not text');
  if (Buffer.byteLength(content) > MAX_CONTENT) return toBadEntry(`"content" has over ${MAX_CONTENT} bytes`);
  for (const [name, text] of Object.entries({ id, type, source, dedup_key: key })) {
    if (text !== undefined && typeof text !== 'string') return toBadEntry(`"${name}" is not text`);
  }
  if (typeof key === 'string' && isOwnKey(key))
    return toBadEntry(`"dedup_key" begins with ${OWN_KEYS}, which is reserved for Hivebar`);
  if (priority !== undefined && !Number.isInteger(priority)) return toBadEntry('"priority" is not a whole number');
  if (timestamp !== undefined && !isSpan(timestamp)) return toBadEntry('"timestamp" is not a time in milliseconds');
  if (ttl !== undefined && !isSpan(ttl)) return toBadEntry('"ttl_seconds" is not a number of seconds');
  const created = Math.floor(timestamp ?? 0) || now;
  const entry: QueueEntry = {
    type: toNearestType(type),
    source: toSource(source as string | undefined),
    content: content.toWellFormed(),
    priority: toNearestPriority(priority),
    created,
    expires: ttl === undefined || ttl === 0 ? null : Math.min(LAST_INSTANT, created + ttl * 1000),
    dedupKey: toDedupKey(key as string | undefined),
  };
  return { is: 'entry', entry };
}

/**
 * Formats an entry as a line with its LF. Times are whole milliseconds and seconds, as in the schema; a lifetime is rounded up.
 * Text that no encoding can carry becomes U+FFFD.
 *
 * @param id a uuid
 */
export function formatEntryLine(
  { type, source, content, priority, created, expires, dedupKey }: QueueEntry,
  id: string,
): string {
  const timestamp = Math.floor(created);
  const ttl = expires === null ? {} : { ttl_seconds: Math.max(1, Math.ceil((expires - timestamp) / 1000)) };
  const key = dedupKey === null ? {} : { dedup_key: dedupKey.toWellFormed() };
  const text = { source: source.toWellFormed(), content: content.toWellFormed() };
  return `${JSON.stringify({ id, type, ...text, priority, timestamp, ...key, ...ttl })}\n`;
}

/** The fields without nulls, because null means absent, as in Go and Rust. */
function dropNulls(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

/** Makes a valid name: one line, not too long. */
function toSource(text: string | undefined): string {
  const line = (text ?? '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.slice(0, MAX_NAME).toWellFormed().trim() || NO_SOURCE;
}

/** A key that is too long becomes its hash, so that the same key is still the same item. */
function toDedupKey(text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  const key = text.toWellFormed();
  return key.length <= MAX_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

function isSpan(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_INSTANT;
}

function toBadEntry(why: string): EntryParseResult {
  return { is: 'bad', why };
}

/** One part that was found in a queue. */
type QueuePiece =
  /** `place` is the position in the bytes, so it is the same at every read. */
  | { readonly is: 'entry'; readonly entry: QueueEntry; readonly place: string; readonly line: string }
  | { readonly is: 'bad'; readonly why: string; readonly line: string };

const LF = 0x0a;
/** The line that a drainer writes into a queue before it empties the queue. It is not JSON, so every reader skips it. */
const MARKER = /^# taking over [0-9a-f]{32}$/;
/** How many places in a bad line are tried as the start of another line. */
const MOST_STARTS = 64;

export function formatMarker(nonce: string): string {
  return `# taking over ${nonce}\n`;
}

/**
 * Splits a queue into its lines. Blank lines and markers are skipped. A writer that died may leave half a line without an end,
 * directly followed by the next writer's line: the second line is found, and the half is bad. Half a line at the end is bad too,
 * but a line that lacks only its LF is valid.
 */
export function parsePieces(bytes: Uint8Array, now: Instant): readonly QueuePiece[] {
  const pieces: QueuePiece[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LF, from);
    const to = end === -1 ? bytes.length : end;
    pieces.push(...parseLinePieces(decodeText(bytes.subarray(from, to)), from, now));
    from = to + 1;
  }
  return pieces;
}

export function endsLine(bytes: Uint8Array): boolean {
  return bytes.at(-1) === LF;
}

/** Whether the writer of the last line may not have finished it. */
export function endsTorn(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || endsLine(bytes)) return false;
  return !isObject(decodeText(bytes.subarray(bytes.lastIndexOf(LF) + 1)));
}

function parseLinePieces(line: string, offset: number, now: Instant): readonly QueuePiece[] {
  if (line.trim() === '' || MARKER.test(line.trim())) return [];
  const read = parseEntry(line, now);
  if (read.is === 'entry') return [{ is: 'entry', entry: read.entry, place: `${offset}`, line }];
  if (isObject(line)) return [{ is: 'bad', why: read.why, line }];
  for (let tries = 0, at = line.indexOf('{"', 1); at !== -1 && tries < MOST_STARTS; tries += 1) {
    const rest = line.slice(at);
    const second = parseEntry(rest, now);
    if (second.is === 'entry') {
      const entryPiece: QueuePiece = { is: 'entry', entry: second.entry, place: `${offset}+${at}`, line: rest };
      return [{ is: 'bad', why: read.why, line: line.slice(0, at) }, entryPiece];
    }
    at = line.indexOf('{"', at + 1);
  }
  return [{ is: 'bad', why: read.why, line }];
}

function isObject(line: string): boolean {
  try {
    const value: unknown = parseJson(line);
    return value !== null && typeof value === 'object';
  } catch {
    return false; // not JSON, so not an object
  }
}

/** Bytes that are not UTF-8 become U+FFFD, as in Go: a wrong letter is no reason to lose a message. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Longer than a drainer holds the lock, even on a busy disk. */
const WAIT_MS = 2000;

/**
 * Appends an entry to a queue as every writer does (inbox and gates 2): under the exclusive flock, with one write call per line.
 * It creates the file (0600) and its directories (0700). If the file ends in half a line of a writer that died, it starts a new
 * line. Nothing is synced: the queue only hands over, and the database stores.
 *
 * @throws Fault `unwritable` or `no-space`; then nothing of the line is in the file
 */
export function append({ disk, random, ways }: QueueMachine, path: string, entry: QueueEntry, waitMs = WAIT_MS): void {
  const locked = openLocked(disk, path, 'create', waitMs, ways);
  if (locked.is !== 'got') {
    throw createRefusal(path, `was locked by another process for ${waitMs} ms; the line was not written`, 'unwritable');
  }
  using file = locked.file;
  const { files } = disk;
  try {
    const { size } = files.fstat(file.fd);
    const last = new Uint8Array(1);
    const isTorn = size > 0 && files.read(file.fd, last, size - 1) === 1 && last[0] !== LF;
    const line = Buffer.from(`${isTorn ? '\n' : ''}${formatEntryLine(entry, toUuid(random.hex(16)))}`);
    let wrote = 0;
    try {
      wrote = files.write(file.fd, line);
    } finally {
      if (wrote !== line.length) files.ftruncate(file.fd, size);
    }
    if (wrote !== line.length) throw Object.assign(new Error('the disk accepted only part of it'), { code: 'ENOSPC' });
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/** Makes a UUID of version 4 from 16 random bytes. */
function toUuid(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
  const [a, b, c, d, e] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20), hex.slice(20, 32)];
  return `${a}-${b}-4${c}-${variant}${d}-${e}`;
}

/** What the queue needs from the machine. */
export interface QueueMachine {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** How to lock; default: the way of the platform. */
  readonly ways?: readonly LockWay[];
}
