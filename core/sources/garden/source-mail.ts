import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import { type DirectoryListener, type DirectoryObserver, watchDirectories } from '../directories.node.ts';
import type { Checkpoint, SetItem } from '../source.ts';
import { cut, sanitizeText } from '../source-tools.ts';
import {
  type Box,
  EMPTY_MS,
  findMessage,
  type GardenMessage,
  type GardenPlaces,
  isAnnounced,
  parseCreated,
  parseEnvelope,
  peek,
  type Stage,
  type UnreadMessage,
} from './read/index.ts';

interface MailOptions {
  readonly disk: Disk;
  readonly mailbox: string;
  readonly clock: Clock;
  /** How many code points of content are read; null reads none. */
  readonly contentChars: number | null;
  /** Whether messages that were already read when first seen are delivered too. */
  readonly backfill: boolean;
}

/** The messages of a box, as items of a set. */
interface BoxMail {
  readonly items: readonly SetItem[];
  /** How many of its messages are unread. */
  readonly unread: number;
  /** After how many milliseconds to poll again, because a body is not known to be whole; null when all messages are included. */
  readonly againIn: number | null;
}

/** Turns the messages of boxes into items. Each body is read once, when it is whole. */
interface MailReader {
  read(gardenId: string, box: Box, checkpoint: Checkpoint): BoxMail;
  /** Whether the last read included all messages. */
  isSure(gardenId: string): boolean;
  forget(gardenId: string): void;
}

/** How long a body must stay unchanged before it counts as whole, when no signal says so. */
const STILL_MS = 250;
/** How many bodies of one box are cached. Others are read again when they are requested again. */
const MOST_CACHED = 200;
/** The usual header has 200 bytes, and a few more with long names. */
const HEADER_BYTES = 4096;

interface MessageText {
  readonly from: string | null;
  readonly content: string | null;
}

/** A message that is not delivered yet. */
interface UnconfirmedBody {
  readonly size: number;
  /** On the monotonic clock. */
  readonly since: number;
}

interface BoxMemory {
  /** Bodies of messages that are not delivered yet. */
  readonly texts: Map<string, MessageText>;
  /** Messages that were seen unread and not whole. */
  readonly waiting: Map<string, UnconfirmedBody>;
  sure: boolean;
}

/** An empty box. */
export const NO_MAIL: BoxMail = { items: [], unread: 0, againIn: null };
const NO_TEXT: MessageText = { from: null, content: null };
const EVENT: Readonly<Record<Stage, SetItem['changed']>> = { fresh: null, delivered: 'delivered', read: 'read' };

export function createMailReader({ disk, mailbox, clock, contentChars, backfill }: MailOptions): MailReader {
  /** Only boxes with messages that are not delivered yet are here. */
  const memories = new Map<string, BoxMemory>();

  function saveMemory(gardenId: string, memory: BoxMemory): void {
    if (memory.sure && memory.texts.size === 0 && memory.waiting.size === 0) memories.delete(gardenId);
    else memories.set(gardenId, memory);
  }

  function readText(gardenId: string, { stem, file }: GardenMessage, { texts }: BoxMemory): MessageText | null {
    const known = texts.get(stem);
    if (known !== undefined) return known;
    const body = peek(disk, mailbox, gardenId, file, HEADER_BYTES + 4 * (contentChars ?? 0));
    if (body === null) return null;
    const envelope = parseEnvelope(body.text);
    const content = contentChars === null ? null : cut(sanitizeText(envelope?.text ?? body.text), contentChars);
    const text = { from: envelope === null ? null : sanitizeText(envelope.from), content };
    if (texts.size < MOST_CACHED) texts.set(stem, text);
    return text;
  }

  /** How many milliseconds still to wait for the body; 0 when it is whole. */
  function waitFor(
    message: GardenMessage,
    unread: UnreadMessage | undefined,
    signal: string | null,
    { waiting }: BoxMemory,
  ): number {
    if (unread === undefined) return 0; // it was read, and its reader had it whole
    if (isAnnounced(unread, signal)) return 0;
    const before = waiting.get(message.stem);
    const still = before !== undefined && before.size === unread.size ? before : null;
    const now = clock.monotonic();
    if (still === null) waiting.set(message.stem, { size: unread.size, since: now });
    return Math.max(0, (unread.size === 0 ? EMPTY_MS : STILL_MS) - (now - (still?.since ?? now)));
  }

  return {
    read(gardenId, { messages, unread, signal }, checkpoint) {
      if (messages.length === 0 && isEmpty(checkpoint)) {
        memories.delete(gardenId);
        return NO_MAIL;
      }
      const memory: BoxMemory = memories.get(gardenId) ?? { texts: new Map(), waiting: new Map(), sure: true };
      const { texts, waiting } = memory;
      const known = new Set(checkpoint.is === 'known' ? checkpoint.keys.map(({ key }) => key) : []);
      const goneStems = new Set(checkpoint.is === 'known' ? checkpoint.gone?.map(({ key }) => key) : []);
      const waits = new Map(unread.map((message) => [message.stem, message]));
      const items: SetItem[] = [];
      let againIn: number | null = null;
      const wait = (ms: number): void => {
        againIn = againIn === null ? ms : Math.min(againIn, ms);
      };
      for (const message of messages) {
        const { stem, stage } = message;
        const isRead = stage === 'read';
        if (!isRead && !waits.has(stem)) continue; // the file has the name of a message and is none
        if (known.has(stem) || goneStems.has(stem)) {
          texts.delete(stem);
          waiting.delete(stem);
          items.push(toItem(message, 'new', NO_TEXT));
          continue;
        }
        if (isRead && !backfill && !waiting.has(stem)) {
          items.push(toItem(message, 'quiet', NO_TEXT));
          continue;
        }
        const left = waitFor(message, waits.get(stem), signal, memory);
        if (left > 0) {
          wait(left);
          continue;
        }
        const text = readText(gardenId, message, memory);
        if (text !== null) items.push(toItem(message, 'new', text));
        else if (isLost(stem, memory)) items.push(toItem(message, 'new', NO_TEXT));
        else wait(STILL_MS); // it was renamed meanwhile
      }
      if (waiting.size > 0 || texts.size > 0) {
        const listedStems = new Set(messages.map(({ stem }) => stem));
        for (const stem of waiting.keys()) if (!listedStems.has(stem)) waiting.delete(stem);
        for (const stem of texts.keys()) if (!listedStems.has(stem)) texts.delete(stem);
      }
      // Only a message that is really gone may be reported as gone.
      let missed = 0;
      const listed = new Set(items.map(({ key }) => key));
      for (const stem of known) {
        const unlisted = listed.has(stem) ? null : findMessage(disk, mailbox, gardenId, stem);
        if (unlisted === null) continue;
        items.push(toItem(unlisted, 'new', NO_TEXT));
        if (unlisted.stage !== 'read') missed += 1;
      }
      memory.sure = againIn === null;
      saveMemory(gardenId, memory);
      return { items, unread: unread.length + missed, againIn };
    },
    isSure: (gardenId) => memories.get(gardenId)?.sure ?? true,
    forget: (gardenId) => void memories.delete(gardenId),
  };

  /** Whether a body has been unreadable for so long that the message is delivered without it. */
  function isLost(stem: string, { waiting }: BoxMemory): boolean {
    const before = waiting.get(stem);
    if (before !== undefined) return clock.monotonic() - before.since >= EMPTY_MS;
    waiting.set(stem, { size: -1, since: clock.monotonic() });
    return false;
  }
}

/** Whether nothing in the box is known. */
function isEmpty(checkpoint: Checkpoint): boolean {
  return checkpoint.is !== 'known' || checkpoint.keys.length === 0;
}

function toItem(
  { stem, stage }: GardenMessage,
  appeared: SetItem['appeared'],
  { from, content }: MessageText,
): SetItem {
  const fields = { fingerprint: stage, appeared, changed: EVENT[stage], vanished: 'gone' } as const;
  return { key: stem, ...fields, from, created: parseCreated(stem), content, extra: { stem } };
}

/** Receives notices of what may have changed in a store. */
interface GardenStoreListener {
  /** Records were added, removed or written. `inPlace`: a file was written in place, which its directory's stat does not show. */
  records(inPlace: boolean): void;
  box(gardenId: string): void;
}

interface GardenChangesOptions {
  readonly places: GardenPlaces;
  readonly clock: Clock;
  readonly listener: GardenStoreListener;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly: boolean;
}

/** Reports changes of a store. It never modifies the store. */
export interface GardenChanges extends Disposable {
  /** Watches exactly these boxes from now on, whether they exist yet or not. */
  follow(gardenIds: Iterable<string>): void;
}

const MARKER = '.json';
const BOX_FILE = /\.msg(\.delivered)?(\.read)?$|^inbox\.signal$/;

/**
 * Watches the parent directories, since a fresh cut renames the store's directories away. Also watches the directories of
 * records, boxes and receiver markers, and each box.
 */
export function watchStore({ places, clock, listener, statOnly }: GardenChangesOptions): GardenChanges {
  const { sessions, mailbox, receivers } = places;
  const directories = watchDirectories({ clock, statOnly });
  const boxes = new Map<string, DirectoryObserver>();
  const storeDirectories = new Map<string, DirectoryObserver>();

  for (const parent of new Set([sessions, mailbox, receivers].map((path) => dirname(path)))) {
    directories.add(
      parent,
      (name) => {
        for (const [path, directory] of storeDirectories)
          if (dirname(path) === parent && (name === null || name === basename(path))) directory.renew();
      },
      'always',
    );
  }
  const add = (path: string, tell: (name: string | null, event: string) => void): void => {
    storeDirectories.set(path, directories.add(path, tell, 'always'));
  };
  add(sessions, (name, event) => {
    if (name === null || name.endsWith('.meta.json')) listener.records(event === 'change');
  });
  add(mailbox, (name) => {
    for (const gardenId of name === null ? boxes.keys() : [name]) {
      const box = boxes.get(gardenId);
      if (box === undefined) continue;
      box.renew();
      listener.box(gardenId);
    }
  });
  add(receivers, (name) => {
    const ids = name === null ? boxes.keys() : name.endsWith(MARKER) ? [name.slice(0, -MARKER.length)] : [];
    for (const gardenId of ids) if (boxes.has(gardenId)) listener.box(gardenId);
  });

  /** One listener for all boxes. */
  const hearBox: DirectoryListener = (name, _, path) => {
    if (name === null || BOX_FILE.test(name)) listener.box(basename(path));
  };

  return {
    follow(gardenIds) {
      const followedIds = new Set(gardenIds);
      for (const [gardenId, box] of boxes) {
        if (followedIds.has(gardenId)) continue;
        box[Symbol.dispose]();
        boxes.delete(gardenId);
      }
      for (const gardenId of followedIds)
        if (!boxes.has(gardenId)) boxes.set(gardenId, directories.add(join(mailbox, gardenId), hearBox, 'deaf'));
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      boxes.clear();
    },
  };
}
