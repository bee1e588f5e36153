import { parseJson } from '../../../model/index.ts';
import { type ReadCalls, readBytes, tryStat } from './files.ts';

/** A message that a session got, as its transcript has it (contract 3). */
export interface TranscriptMessage {
  /** Differs for every message of every transcript. */
  readonly key: string;
  /** From a member of the same team, or from another session. */
  readonly is: 'team' | 'cross';
  readonly from: string;
  readonly text: string;
  readonly summary: string | null;
  readonly created: string | null;
}

/** How far a transcript was read. */
export interface TranscriptPosition {
  offset: number;
  /** The end of a line is still to come that is too long to be read. */
  isInLongLine: boolean;
}

/** What one read of a transcript found. */
export interface TranscriptPart {
  readonly messages: readonly TranscriptMessage[];
  /** The model that answered last; null when none did. */
  readonly model: string | null;
  /** More of it can be read now. */
  readonly hasMore: boolean;
}

const MOST_BYTES = 1024 * 1024;
const TAGS = ['<teammate-message ', '<cross-session-message '] as const;
const LINE_FEED = 0x0a;
const NOTHING: TranscriptPart = { messages: [], model: null, hasMore: false };

/** Where a transcript ends now; null when there is none. */
export function findTranscriptEnd(files: ReadCalls, path: string): TranscriptPosition | null {
  const stat = tryStat(files, path);
  return stat?.kind === 'file' ? { offset: stat.size, isInLongLine: false } : null;
}

/** Reads the complete lines after the position, at most 1 MiB, and moves it on. One that was cut is read on from its end. */
export function readTranscript(files: ReadCalls, path: string, position: TranscriptPosition): TranscriptPart {
  const stat = tryStat(files, path);
  if (stat === null || stat.size === position.offset) return NOTHING;
  if (stat.size < position.offset) {
    position.offset = stat.size;
    return NOTHING;
  }
  const part = readBytes(files, path, ({ size }) => ({
    from: position.offset,
    size: Math.max(0, Math.min(MOST_BYTES, size - position.offset)),
  }));
  if (part.is !== 'bytes') return NOTHING;
  const { bytes } = part;
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  if (end === 0) {
    if (bytes.length === MOST_BYTES) {
      position.offset += bytes.length;
      position.isInLongLine = true;
    }
    return { ...NOTHING, hasMore: bytes.length === MOST_BYTES };
  }
  const begin = position.isInLongLine ? bytes.indexOf(LINE_FEED) + 1 : 0;
  position.offset += end;
  position.isInLongLine = false;
  const lines = bytes.subarray(begin, end);
  return {
    messages: findLines(lines).flatMap(parseTranscriptLine),
    model: findModel(lines),
    hasMore: stat.size - position.offset > 0 && bytes.length === MOST_BYTES,
  };
}

/** The model that answered last in a transcript, as far as its end says. */
export function readLastModel(files: ReadCalls, path: string): string | null {
  const part = readBytes(files, path, ({ size }) => {
    const length = Math.min(size, TAIL_BYTES);
    return { from: size - length, size: length };
  });
  return part.is === 'bytes' ? findModel(part.bytes) : null;
}

const TAIL_BYTES = 64 * 1024;

/** The lines that may hold a message. All others are not even decoded. */
function findLines(bytes: Buffer): readonly string[] {
  const starts = new Set<number>();
  for (const tag of TAGS)
    for (let at = bytes.indexOf(tag); at !== -1; at = bytes.indexOf(tag, at + 1))
      starts.add(bytes.lastIndexOf(LINE_FEED, at) + 1);
  return [...starts].sort((a, b) => a - b).map((start) => readLine(bytes, start));
}

function readLine(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(LINE_FEED, start);
  return bytes.toString('utf8', start, end === -1 ? bytes.length : end);
}

function findModel(bytes: Buffer): string | null {
  const at = bytes.lastIndexOf('"type":"assistant"');
  if (at === -1) return null;
  try {
    const line = parseJson(readLine(bytes, bytes.lastIndexOf(LINE_FEED, at) + 1)) as {
      readonly message?: { readonly model?: unknown };
    } | null;
    const model = line?.message?.model;
    return typeof model === 'string' && /^[\w.:/[\]-]{1,80}$/.test(model) ? model : null;
  } catch {
    return null; // the line begins before the part that was read
  }
}

/** A message, after at most one line that introduces it. Text that a tool or a person brought in is none. */
const BEGINS_WITH_TAG = /^(?:[^<\n]{0,200}\n)?<(?:teammate|cross-session)-message /;
const MESSAGE = /<(teammate|cross-session)-message((?:\s+[\w-]+="[^"]*")*)\s*>\n?([\s\S]*?)\n?<\/\1-message>/g;
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g;

/** The messages in a line; none for any other line. */
export function parseTranscriptLine(line: string): readonly TranscriptMessage[] {
  let entry: Readonly<Record<string, unknown>> | null;
  try {
    entry = parseJson(line) as Readonly<Record<string, unknown>> | null;
  } catch {
    return []; // not of this program, or over every limit
  }
  if (typeof entry !== 'object' || entry === null || entry.type !== 'user') return [];
  // What a member was started with is its task, and no mail.
  if (entry.isSidechain === true && entry.parentUuid === null) return [];
  const content = (entry.message as { readonly content?: unknown } | null)?.content;
  const created = typeof entry.timestamp === 'string' ? entry.timestamp : null;
  const id = typeof entry.uuid === 'string' ? entry.uuid.slice(0, 64) : '';
  return listTexts(content)
    .filter((text) => BEGINS_WITH_TAG.test(text))
    .flatMap((text) => [...text.matchAll(MESSAGE)])
    .map(([, tag, attributes = '', body = ''], i) => {
      const values = new Map(
        [...attributes.matchAll(ATTRIBUTE)].map(([, name, value = '']) => [name, decodeEntities(value)]),
      );
      const isTeam = tag === 'teammate';
      const sender = isTeam ? values.get('teammate_id') : (values.get('from-name') ?? values.get('from'));
      return {
        key: `line:${id}:${i + 1}`,
        is: isTeam ? 'team' : 'cross',
        from: sender ?? '',
        text: body,
        summary: values.get('summary') ?? null,
        created,
      };
    });
}

function listTexts(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return (content as readonly { readonly type?: unknown; readonly text?: unknown }[]).flatMap((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&lt;': '<',
  '&gt;': '>',
  '&apos;': "'",
  '&amp;': '&',
};

const decodeEntities = (text: string): string =>
  text.replaceAll(/&(?:quot|lt|gt|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity);
