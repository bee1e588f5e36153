import type { Clock } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { SetItem } from '../set.ts';
import type { Mark } from '../source.ts';
import { cleaned, cut } from '../text.ts';
import {
  type Box,
  createdOf,
  EMPTY_MS,
  envelopeOf,
  isAnnounced,
  type Message,
  messageAt,
  peek,
  type Stage,
  type Unread,
} from './read/index.ts';

export interface MailOptions {
  readonly disk: Disk;
  readonly mailbox: string;
  readonly clock: Clock;
  /** Code points of content; null: none is read. */
  readonly contentChars: number | null;
  /** Messages that are read when they are first seen are told all the same. */
  readonly backfill: boolean;
}

/** What a box has to say, as things of a set. */
export interface Mail {
  readonly items: readonly SetItem[];
  /** How many of its messages are not read. */
  readonly unread: number;
  /** When to look again, since a body is not known to be whole; null: it says all there is. Milliseconds. */
  readonly againIn: number | null;
}

/** Makes the messages of boxes known: each body is read once, when it is whole. */
export interface MailReader {
  read(gardenId: string, box: Box, told: Mark): Mail;
  /** Whether the last reading said all there is. */
  isSure(gardenId: string): boolean;
  forget(gardenId: string): void;
}

/** A body stands still for so long before it is believed to be whole, where nothing says that it is. */
const STILL_MS = 250;
/** Of one box. What does not fit is read again when it is asked for again. */
const MOST_KEPT = 200;
/** The usual header is 200 bytes, with long names some more. */
const HEADER_BYTES = 4096;

interface Text {
  readonly from: string | null;
  readonly content: string | null;
}

/** Not told yet. */
interface Waiting {
  readonly size: number;
  /** Monotonic. */
  readonly since: number;
}

interface Memory {
  /** Bodies of what was not taken yet. */
  readonly texts: Map<string, Text>;
  /** Seen while it was not read, and not whole. */
  readonly waiting: Map<string, Waiting>;
  sure: boolean;
}

const NOT_ASKED: Text = { from: null, content: null };
const EVENT: Readonly<Record<Stage, SetItem['changed']>> = { fresh: null, delivered: 'delivered', read: 'read' };

export function createMailReader({ disk, mailbox, clock, contentChars, backfill }: MailOptions): MailReader {
  const memories = new Map<string, Memory>();

  function memoryOf(gardenId: string): Memory {
    const known = memories.get(gardenId);
    if (known !== undefined) return known;
    const fresh: Memory = { texts: new Map(), waiting: new Map(), sure: true };
    memories.set(gardenId, fresh);
    return fresh;
  }

  function textOf(gardenId: string, { stem, file }: Message, { texts }: Memory): Text | null {
    const known = texts.get(stem);
    if (known !== undefined) return known;
    const body = peek(disk, mailbox, gardenId, file, HEADER_BYTES + 4 * (contentChars ?? 0));
    if (body === null) return null;
    const envelope = envelopeOf(body.text);
    const content = contentChars === null ? null : cut(cleaned(envelope?.text ?? body.text), contentChars);
    const text = { from: envelope === null ? null : cleaned(envelope.from), content };
    if (texts.size < MOST_KEPT) texts.set(stem, text);
    return text;
  }

  /** How long it is still to be waited for; 0: it is whole. */
  function waitFor(message: Message, unread: Unread | undefined, signal: string | null, { waiting }: Memory): number {
    if (unread === undefined) return 0; // read: whoever read it had it whole
    if (isAnnounced(unread, signal)) return 0;
    const before = waiting.get(message.stem);
    const still = before !== undefined && before.size === unread.size ? before : null;
    const now = clock.monotonic();
    if (still === null) waiting.set(message.stem, { size: unread.size, since: now });
    return Math.max(0, (unread.size === 0 ? EMPTY_MS : STILL_MS) - (now - (still?.since ?? now)));
  }

  return {
    read(gardenId, { messages, unread, signal }, told) {
      const memory = memoryOf(gardenId);
      const { texts, waiting } = memory;
      const known = new Set(told.is === 'known' ? told.keys.map(({ key }) => key) : []);
      const gone = new Set(told.is === 'known' ? told.gone?.map(({ key }) => key) : []);
      const waits = new Map(unread.map((one) => [one.stem, one]));
      const items: SetItem[] = [];
      let againIn: number | null = null;
      const wait = (ms: number): void => {
        againIn = againIn === null ? ms : Math.min(againIn, ms);
      };
      for (const message of messages) {
        const { stem, stage } = message;
        const isRead = stage === 'read';
        if (!isRead && !waits.has(stem)) continue; // it has the name of a message and is none
        if (known.has(stem) || gone.has(stem)) {
          texts.delete(stem);
          waiting.delete(stem);
          items.push(itemOf(message, 'new', NOT_ASKED));
          continue;
        }
        if (isRead && !backfill && !waiting.has(stem)) {
          items.push(itemOf(message, 'quiet', NOT_ASKED));
          continue;
        }
        const left = waitFor(message, waits.get(stem), signal, memory);
        if (left > 0) {
          wait(left);
          continue;
        }
        const text = textOf(gardenId, message, memory);
        if (text !== null) items.push(itemOf(message, 'new', text));
        else if (isLost(stem, memory)) items.push(itemOf(message, 'new', NOT_ASKED));
        else wait(STILL_MS); // it was renamed meanwhile
      }
      if (waiting.size > 0 || texts.size > 0) {
        const there = new Set(messages.map(({ stem }) => stem));
        for (const stem of waiting.keys()) if (!there.has(stem)) waiting.delete(stem);
        for (const stem of texts.keys()) if (!there.has(stem)) texts.delete(stem);
      }
      // What is told as gone is gone.
      let missed = 0;
      const listed = new Set(items.map(({ key }) => key));
      for (const stem of known) {
        const found = listed.has(stem) ? null : messageAt(disk, mailbox, gardenId, stem);
        if (found === null) continue;
        items.push(itemOf(found, 'new', NOT_ASKED));
        if (found.stage !== 'read') missed += 1;
      }
      memory.sure = againIn === null;
      return { items, unread: unread.length + missed, againIn };
    },
    isSure: (gardenId) => memories.get(gardenId)?.sure ?? true,
    forget: (gardenId) => void memories.delete(gardenId),
  };

  /** It is there and its body can not be had: after a while it is told without one. */
  function isLost(stem: string, { waiting }: Memory): boolean {
    const before = waiting.get(stem);
    if (before !== undefined) return clock.monotonic() - before.since >= EMPTY_MS;
    waiting.set(stem, { size: -1, since: clock.monotonic() });
    return false;
  }
}

function itemOf({ stem, stage }: Message, appeared: SetItem['appeared'], { from, content }: Text): SetItem {
  const told = { mark: stage, appeared, changed: EVENT[stage], vanished: 'gone' } as const;
  return { key: stem, ...told, from, created: createdOf(stem), content, extra: { stem } };
}
