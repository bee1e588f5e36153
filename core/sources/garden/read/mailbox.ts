import { join, sep } from 'node:path';
import { Fault, type Instant } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { createGardenFault } from '../settings.ts';
import {
  describeValue,
  isGardenId,
  type MetaRecord,
  parseFields,
  parseGardenId,
  requireOnlyKeys,
  requireTextOrNull,
  type Times,
} from './record.ts';
import { isSameStamp, isStampProof, type StatStamp, toStamp } from './records.ts';
import {
  findFileDefect,
  listNames,
  MOST_JSON,
  type Owners,
  openSmall,
  readBytes,
  readDirectoryDefect,
  readOwners,
  readSmall,
  readStat,
  tryListNames,
  tryStat,
} from './small-file.ts';
import type { Defect } from './store.ts';

/**
 * The stage of a message: `fresh` when it was put in, `delivered` when a doorbell announced it, then `read` (garden contract 3).
 */
export type Stage = 'fresh' | 'delivered' | 'read';

export interface GardenMessage {
  /** The message's name at every stage: the file name up to `.msg`. */
  readonly stem: string;
  /** The current file name. */
  readonly file: string;
  readonly stage: Stage;
}

/** A message that nobody has read. */
export interface UnreadMessage extends GardenMessage {
  /** In bytes. 0 means that the body is not written yet, or is empty. */
  readonly size: number;
  /** When the file last changed, by the disk's clock. */
  readonly changedMs: number;
}

export interface Box {
  /** Sorted by file name, each stem once. */
  readonly messages: readonly GardenMessage[];
  /** Unread messages that are regular files, in the order in which they are read. */
  readonly unread: readonly UnreadMessage[];
  /** Files that have the name of an unread message and are none. */
  readonly errors: readonly Defect[];
  /**
   * The content of `inbox.signal`: '' when it is armed, then the time of the last message that is whole. Null without the file.
   */
  readonly signal: string | null;
}

export const SIGNAL = 'inbox.signal';
const NAME = /^(.+)\.msg(\.delivered)?(\.read)?$/;
const RANK: Readonly<Record<Stage, number>> = { fresh: 0, delivered: 1, read: 2 };

export const toBoxPath = (mailbox: string, gardenId: string): string => `${mailbox}${sep}${parseGardenId(gardenId)}`;

/**
 * The messages among the names of a box. A listing made during a rename may have both names; then the message is at the later
 * stage.
 */
export function findMessages(names: readonly string[]): readonly GardenMessage[] {
  const byStem = new Map<string, GardenMessage>();
  for (const file of names) {
    const match = NAME.exec(file);
    if (match === null) continue;
    const [, stem = '', delivered, read] = match;
    const stage = read !== undefined ? 'read' : delivered !== undefined ? 'delivered' : 'fresh';
    const known = byStem.get(stem);
    if (known === undefined || RANK[known.stage] < RANK[stage]) byStem.set(stem, { stem, file, stage });
  }
  return [...byStem.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The state of a citizen's box. `refused`: nothing is known, not even whether it is empty. */
export type BoxState =
  | ({ readonly is: 'box' } & Box)
  | { readonly is: 'none' }
  | { readonly is: 'refused'; readonly why: string };

/**
 * Reads a citizen's box; `none` when nothing was ever sent to it. A symlink in its place is not followed.
 * @throws Fault `unreadable` for a failure that is not about this box
 */
export function readBox(disk: Disk, mailbox: string, gardenId: string): BoxState {
  const directory = toBoxPath(mailbox, gardenId);
  const owners = readOwners(disk, mailbox);
  const closed = readDirectoryDefect(disk, directory, owners);
  if (closed !== null) return { is: 'refused', why: closed };
  const listed = tryListNames(disk, directory);
  if (listed.is !== 'names') return listed.is === 'absent' ? { is: 'none' } : listed;
  const messages = findMessages(listed.names);
  const errors: Defect[] = [];
  const unread: UnreadMessage[] = [];
  for (const message of messages) {
    if (message.stage === 'read') continue;
    const statResult = tryStat(disk, join(directory, message.file));
    if (statResult.is === 'refused') return statResult; // the files of this box cannot be checked
    if (statResult.is === 'absent') continue; // renamed meanwhile: the next read finds it
    const why = findFileDefect(statResult.stat, owners);
    if (why === null) unread.push({ ...message, size: statResult.stat.size, changedMs: statResult.stat.ctimeMs });
    else errors.push({ filename: message.file, message: why });
  }
  return { is: 'box', messages, unread, errors, signal: readSignal(disk, directory, owners, errors) };
}

/** The names are tried from the first stage to the last, so that a file that is renamed meanwhile is found at the later stage. */
const NAMES: readonly (readonly [end: string, stage: Stage])[] = [
  ['.msg', 'fresh'],
  ['.msg.delivered', 'delivered'],
  ['.msg.delivered.read', 'read'],
  ['.msg.read', 'read'],
];

/**
 * Finds a message by its stem, by trying its names; null when it does not exist. A listing made during a rename may have neither
 * name.
 */
export function findMessage(disk: Disk, mailbox: string, gardenId: string, stem: string): GardenMessage | null {
  const directory = toBoxPath(mailbox, gardenId);
  for (const [end, stage] of NAMES) {
    const file = `${stem}${end}`;
    const statResult = file.includes('/') ? null : tryStat(disk, join(directory, file));
    if (statResult?.is === 'stat' && statResult.stat.kind === 'file') return { stem, file, stage };
  }
  return null;
}

/** Entries of the mailbox directory that belong to no citizen. */
export interface Strays {
  /** Garden ids without a record. */
  readonly boxes: readonly string[];
  /** Names that are no garden ids. */
  readonly others: readonly string[];
}

/** @throws Fault `unreadable` when the mailbox directory cannot be read */
export function findStrays(disk: Disk, mailbox: string, citizens: ReadonlySet<string>): Strays {
  const names = listNames(disk, mailbox).filter((name) => !citizens.has(name));
  return { boxes: names.filter(isGardenId), others: names.filter((name) => !isGardenId(name)) };
}

/** The requested part of a body; `size` is that of the whole body, in bytes. */
export interface Body {
  readonly text: string;
  readonly size: number;
}

/**
 * The first bytes of a message, which is not changed; null when it no longer has this name.
 * @param most the number of bytes; a character that is cut is left out
 */
export function peek(disk: Disk, mailbox: string, gardenId: string, file: string, most: number): Body | null {
  if (findMessages([file]).length === 0 || file.includes('/')) return null;
  const directory = toBoxPath(mailbox, gardenId);
  const owners = readOwners(disk, mailbox);
  if (readDirectoryDefect(disk, directory, owners) !== null) return null;
  const opened = openSmall(disk, join(directory, file), owners);
  if (opened.is !== 'open') return null;
  try {
    const { size } = opened.stat;
    return { text: decodeWhole(readBytes(disk, opened.fd, Math.min(size, most)), size > most), size };
  } finally {
    disk.files.close(opened.fd);
  }
}

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)-[0-9a-f]{6}$/;

/** When a message was put in, according to its stem: `2026-06-14T01:07:24.000Z`; null when the stem does not say. */
export function parseCreated(stem: string): string | null {
  const match = STAMP.exec(stem);
  return match === null ? null : `${match[1]}:${match[2]}:${match[3]}.${match[4]}`;
}

/**
 * Whether the body is known to be whole: the signal, which a sender writes last, is not older than the message. Any other body
 * counts as whole when its size stays the same between two reads (garden contract 3, trap 4). A doorbell proves nothing, because
 * it renames whatever is in the box.
 */
export function isAnnounced({ stem, size }: Omit<UnreadMessage, 'changedMs'>, signal: string | null): boolean {
  const created = parseCreated(stem);
  return size > 0 && created !== null && signal !== null && created <= signal.trimEnd();
}

/** A sender writes a body within a moment. A file that stays empty for this long is a message without a body. */
export const EMPTY_MS = 10_000;

/** Whether nobody is writing to this empty file any more. */
export function isLeftEmpty({ size, changedMs }: UnreadMessage, now: Instant): boolean {
  return size === 0 && now - changedMs >= EMPTY_MS;
}

function readSignal(disk: Disk, directory: string, owners: Owners, errors: Defect[]): string | null {
  const file = readSmall(disk, join(directory, SIGNAL), MOST_JSON, owners);
  if (file.is === 'text') return file.text;
  if (file.is === 'refused') errors.push({ filename: SIGNAL, message: file.why });
  return null;
}

function decodeWhole(bytes: Buffer, isCut: boolean): string {
  return new TextDecoder().decode(bytes, { stream: isCut });
}

/** A citizen's box, with its problems. */
export interface BoxReading {
  readonly box: BoxState;
  /** `filename` is `<garden id>/<name>`. */
  readonly errors: readonly Defect[];
}

/** Reads the boxes of a store. Only boxes that changed are read again. */
export interface BoxReader {
  /**
   * Checks the directory of all boxes, and returns what reads the boxes in it. While nothing changed, a box costs one stat and the
   * result is the same object.
   * @throws Fault `unreadable` when the directory of all boxes cannot be read; so does the result
   */
  open(): ReadCitizenBox;
  forget(gardenId: string): void;
}

/** @param isSure false: also checks what the directory's stat does not show, the size of a body and the signal */
type ReadCitizenBox = (gardenId: string, isSure: boolean) => BoxReading;

interface CachedBox {
  readonly reading: BoxReading;
  readonly stamp: StatStamp;
}

const NO_BOX: BoxReading = { box: { is: 'none' }, errors: [] };
/** Most boxes are empty most of the time, so they share one object for each state of the signal that occurs often. */
const EMPTY = { is: 'box', messages: [], unread: [], errors: [] } as const;
const EMPTY_BOX: BoxReading = { box: { ...EMPTY, signal: null }, errors: [] };
const EMPTY_ARMED_BOX: BoxReading = { box: { ...EMPTY, signal: '' }, errors: [] };

export function createBoxReader(disk: Disk, mailbox: string, now: () => Instant): BoxReader {
  /** Only readings whose stamp proves that nothing changed since. */
  const cache = new Map<string, CachedBox>();

  function readAnew(gardenId: string, at: Instant): BoxReading {
    cache.delete(gardenId);
    const statResult = tryStat(disk, toBoxPath(mailbox, gardenId));
    if (statResult.is === 'absent') return NO_BOX;
    const box = readBox(disk, mailbox, gardenId);
    if (box.is === 'refused') listNames(disk, mailbox); // throws when the store is the cause, and not this box
    const errors = box.is === 'box' ? [...box.errors, ...findReceiptErrors(gardenId)] : [];
    if (box.is === 'refused') errors.push({ filename: '', message: box.why });
    const reading = shareEmpty({
      box,
      errors: errors.map(({ filename, message }) => ({
        filename: filename === '' ? gardenId : `${gardenId}/${filename}`,
        message,
      })),
    });
    if (statResult.is === 'stat' && box.is === 'box' && isStampProof(statResult.stat, at))
      cache.set(gardenId, { reading, stamp: toStamp(statResult.stat) });
    return reading;
  }

  function findReceiptErrors(gardenId: string): readonly Defect[] {
    try {
      readReceipt(disk, mailbox, gardenId);
      return [];
    } catch (error) {
      if (error instanceof Fault) return [{ filename: 'state.json', message: error.message }];
      throw error;
    }
  }

  return {
    open() {
      const mailboxStat = readStat(disk, mailbox);
      if (mailboxStat !== null && mailboxStat.kind !== 'directory') listNames(disk, mailbox); // a link to a directory is accepted
      return (gardenId, isSure) => {
        const known = isSure ? cache.get(gardenId) : undefined;
        if (known !== undefined) {
          const statResult = tryStat(disk, toBoxPath(mailbox, gardenId));
          if (statResult.is === 'stat' && isSameStamp(statResult.stat, known.stamp)) return known.reading;
        }
        return readAnew(gardenId, now());
      };
    },
    forget: (gardenId) => void cache.delete(gardenId),
  };
}

function shareEmpty(reading: BoxReading): BoxReading {
  const { box, errors } = reading;
  if (box.is !== 'box' || box.messages.length > 0 || box.errors.length > 0 || errors.length > 0) return reading;
  return box.signal === null ? EMPTY_BOX : box.signal === '' ? EMPTY_ARMED_BOX : reading;
}

/** `state.json` of a mailbox: the last time of each stage of a message (garden contract 2). */
export interface Receipt extends Times {
  readonly schemaVersion: 1;
  readonly gardenId: string;
}

export const RECEIPT_KEYS = ['schemaVersion', 'gardenId', 'lastEnqueuedAt', 'lastDeliveredAt', 'lastReadAt'] as const;
const SUBJECT = 'mailbox receipt state';

export const toReceiptPath = (mailbox: string, gardenId: string): string =>
  join(mailbox, parseGardenId(gardenId), 'state.json');

/** @throws Fault `garden` that says what is wrong with the text */
export function parseReceipt(json: string): Receipt {
  const fields = parseFields(json, SUBJECT);
  if (fields.schemaVersion !== 1) {
    throw createGardenFault(
      `${SUBJECT} "schemaVersion" must be 1 (got ${describeValue(fields.schemaVersion)}).`,
      SUBJECT,
    );
  }
  requireOnlyKeys(fields, RECEIPT_KEYS, SUBJECT);
  return {
    schemaVersion: 1,
    gardenId: parseGardenId(fields.gardenId),
    lastEnqueuedAt: requireTextOrNull(fields.lastEnqueuedAt, 'lastEnqueuedAt'),
    lastDeliveredAt: requireTextOrNull(fields.lastDeliveredAt, 'lastDeliveredAt'),
    lastReadAt: requireTextOrNull(fields.lastReadAt, 'lastReadAt'),
  };
}

/**
 * The receipt of a citizen; all times are null when nothing was ever recorded.
 * @throws Fault `garden` when the file exists and is no receipt, or another citizen's
 */
export function readReceipt(disk: Disk, mailbox: string, gardenId: string): Receipt {
  const id = parseGardenId(gardenId);
  const path = toReceiptPath(mailbox, id);
  const owners = readOwners(disk, mailbox);
  const closed = readDirectoryDefect(disk, toBoxPath(mailbox, id), owners);
  if (closed !== null) throw createGardenFault(`${SUBJECT} ${path}: the box ${closed}`, id);
  const file = readSmall(disk, path, MOST_JSON, owners);
  if (file.is === 'absent') {
    return { schemaVersion: 1, gardenId: id, lastEnqueuedAt: null, lastDeliveredAt: null, lastReadAt: null };
  }
  if (file.is === 'refused') throw createGardenFault(`${SUBJECT} ${path} ${file.why}`, id);
  const receipt = parseReceipt(file.text);
  if (receipt.gardenId === id) return receipt;
  throw createGardenFault(
    `${SUBJECT} body/path gardenId drift — body gardenId=${receipt.gardenId}, read from <mailbox>/${id}/state.json.`,
    id,
  );
}

/**
 * What is known about a citizen's mail: each time from the receipt, otherwise from a record of the first generation, which holds
 * the times until it is migrated (garden contract 3, trap 2).
 */
export function mergeReceipt(state: Receipt, record: MetaRecord): Receipt {
  if (record.schemaVersion !== 1) return state;
  const { delivery } = record;
  return {
    ...state,
    lastEnqueuedAt: state.lastEnqueuedAt ?? delivery.lastEnqueuedAt,
    lastDeliveredAt: state.lastDeliveredAt ?? delivery.lastDeliveredAt,
    lastReadAt: state.lastReadAt ?? delivery.lastReadAt,
  };
}
