import { join } from 'node:path';
import { toFault } from '../../../model/index.ts';
import { type Disk, getErrno } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import {
  type Box,
  type BoxState,
  type Defect,
  formatUtc,
  type GardenPlaces,
  isAnnounced,
  isLeftEmpty,
  MOST_BODY,
  openSmall,
  readBox,
  readBytes,
  readOwners,
  readReceipt,
  readRecord,
  readStat,
  toBoxPath,
  type UnreadMessage,
} from '../read/index.ts';
import { stampReceipt } from './receipts.ts';
import type { WriteContext } from './write-context.ts';

export interface DrainedMessage {
  /** Its name before it was read. */
  readonly file: string;
  readonly stem: string;
  readonly body: string;
}

export interface BoxDrainResult {
  readonly gardenId: string;
  readonly messages: readonly DrainedMessage[];
  /** The time in the receipt; null when nothing was read. */
  readonly readAt: string | null;
  /** What waits and was not read, and why; also a receipt that could not be written. */
  readonly left: readonly Defect[];
}

/** How long a size must stand still for a body to count as whole. */
const TICK_MS = 50;
/** A doorbell that renames a file under our hands does so once for each. */
const MOST_PASSES = 20;

/**
 * Reads everything that waits in a citizen's box, oldest first, and archives it by its name, so that it is read once. A
 * message counts as read when it was archived, whoever else drains or rings meanwhile; a body that is still being written
 * is left. Nothing that waits: nothing is changed (garden contract 4, and traps 4 and 5).
 * @throws Fault `garden` or `unreadable`, and then nothing was changed: what was read is always returned
 */
export async function drain(
  context: WriteContext,
  places: GardenPlaces,
  gardenId: string,
  signal: AbortSignal,
): Promise<BoxDrainResult> {
  const citizen = readRecord(context.disk, places.sessions, gardenId);
  const messages: DrainedMessage[] = [];
  const left = new Map<string, string>();
  let box = readBox(context.disk, places.mailbox, citizen.gardenId);
  if (box.is === 'refused') throw createGardenFault(`${toBoxPath(places.mailbox, gardenId)} ${box.why}`, gardenId);
  if (box.is === 'box' && box.unread.length > 0) readReceipt(context.disk, places.mailbox, citizen.gardenId);
  for (let pass = 1; box.is === 'box' && pass <= MOST_PASSES; pass += 1) {
    left.clear();
    for (const { filename, message } of box.errors) left.set(filename, message);
    const whole = await findWhole(context, places, citizen.gardenId, box, signal);
    const moved = archive(context, places, citizen.gardenId, whole, messages, left);
    for (const { file } of box.unread) if (!whole.some((message) => message.file === file)) left.set(file, WRITTEN);
    if (!moved) break;
    box = rereadBox(context, places, citizen.gardenId, left);
  }
  const readAt = messages.length === 0 ? null : stampRead(context, places, citizen.gardenId, left);
  return {
    ...{ gardenId: citizen.gardenId, messages, readAt },
    left: [...left].map(([filename, message]) => ({ filename, message })),
  };
}

const WRITTEN = 'is still being written';

/** Those whose bodies are whole. Waits for a tick only if one of them is not known to be. */
async function findWhole(
  context: WriteContext,
  places: GardenPlaces,
  gardenId: string,
  box: Box,
  signal: AbortSignal,
): Promise<readonly UnreadMessage[]> {
  const isKnownWhole = (message: UnreadMessage): boolean =>
    isAnnounced(message, box.signal) || isLeftEmpty(message, context.clock.now());
  if (box.unread.every(isKnownWhole)) return box.unread;
  await context.clock.sleep(TICK_MS, signal);
  const directory = toBoxPath(places.mailbox, gardenId);
  const isUnchanged = ({ file, size }: UnreadMessage): boolean => {
    const now = readStat(context.disk, join(directory, file));
    return size > 0 && (now === null || now.size === size); // one that was renamed is found by the next look
  };
  return box.unread.filter((message) => isKnownWhole(message) || isUnchanged(message));
}

/** True when a file was not under its name any more: then it is under another. */
function archive(
  context: WriteContext,
  places: GardenPlaces,
  gardenId: string,
  whole: readonly UnreadMessage[],
  messages: DrainedMessage[],
  left: Map<string, string>,
): boolean {
  let moved = false;
  for (const { file, stem } of whole) {
    try {
      const result = archiveMessage(context, places, gardenId, file);
      if (result.is === 'read') messages.push({ file, stem, body: result.body });
      if (result.is === 'refused') left.set(file, result.why);
      if (result.is === 'moved') moved = true;
    } catch (error) {
      left.set(file, toFault(error, { is: 'source', key: `garden:${gardenId}` }).message); // what was read is still ours to return
    }
  }
  return moved;
}

type ArchiveResult =
  | { readonly is: 'read'; readonly body: string }
  | { readonly is: 'moved' }
  | { readonly is: 'refused'; readonly why: string };

/** The name is what counts: of several who read a body, one renames it. */
function archiveMessage({ disk }: WriteContext, places: GardenPlaces, gardenId: string, file: string): ArchiveResult {
  const directory = toBoxPath(places.mailbox, gardenId);
  const path = join(directory, file);
  const archived = `${path}.read`;
  const opened = openSmall(disk, path, readOwners(disk, places.mailbox));
  if (opened.is === 'absent') return { is: 'moved' };
  if (opened.is === 'refused') return opened;
  try {
    const { size } = opened.stat;
    if (size > MOST_BODY) return { is: 'refused', why: `is ${size} bytes long, over ${MOST_BODY}` };
    if (readStat(disk, archived) !== null) return { is: 'refused', why: `would take the place of ${file}.read` };
    const body = readBytes(disk, opened.fd, size);
    disk.files.rename(path, archived);
    return { is: 'read', body: readGrown(disk, opened.fd, body).toString('utf8') };
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return { is: 'moved' };
    throw error;
  } finally {
    disk.files.close(opened.fd);
  }
}

/** A sender that is slow still writes into the file, whatever its name is by now. */
function readGrown(disk: Disk, fd: number, body: Buffer): Buffer {
  try {
    const { size } = disk.files.fstat(fd);
    return size > body.length && size <= MOST_BODY ? readBytes(disk, fd, size) : body;
  } catch {
    return body; // it is archived: what is known of it must reach the reader
  }
}

function rereadBox(context: WriteContext, places: GardenPlaces, gardenId: string, left: Map<string, string>): BoxState {
  try {
    const box = readBox(context.disk, places.mailbox, gardenId);
    if (box.is === 'refused') left.set(gardenId, box.why);
    return box;
  } catch (error) {
    left.set(gardenId, toFault(error, { is: 'source', key: `garden:${gardenId}` }).message);
    return { is: 'none' };
  }
}

function stampRead(
  context: WriteContext,
  places: GardenPlaces,
  gardenId: string,
  left: Map<string, string>,
): string | null {
  try {
    return stampReceipt(context, places, gardenId, 'lastReadAt', formatUtc(context.clock.now())).lastReadAt;
  } catch (error) {
    left.set('state.json', toFault(error, { is: 'source', key: `garden:${gardenId}` }).message);
    return null;
  }
}
