import { join } from 'node:path';
import { toFault } from '../../../model/index.ts';
import { type Disk, getErrno } from '../../../state/index.ts';
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
import { createGardenFault } from '../settings.ts';
import { stampReceipt } from './markers.ts';
import type { WriteContext } from './write-context.ts';

export interface DrainedMessage {
  /** The file's name before it was read. */
  readonly file: string;
  readonly stem: string;
  readonly body: string;
}

export interface BoxDrainResult {
  readonly gardenId: string;
  readonly messages: readonly DrainedMessage[];
  /** The time in the receipt; null when nothing was read. */
  readonly readAt: string | null;
  /** Messages that wait and were not read, with the reason, and also a receipt that could not be written. */
  readonly left: readonly Defect[];
}

/** How long a body's size must stay the same before the body counts as whole. */
const TICK_MS = 50;
/** The most passes of one drain. A doorbell that renames files meanwhile causes one more pass per rename. */
const MOST_PASSES = 20;

/**
 * Reads everything that waits in a citizen's box, oldest first, and archives each message by renaming it, so that it is read
 * once. A message counts as read once it is archived, whoever else drains or rings meanwhile. A body that is still being written
 * stays. When nothing waits, nothing is changed (garden contract 4, and traps 4 and 5).
 * @throws Fault `garden` or `unreadable`, and only before anything was changed: messages that were read are always returned
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

/** The messages whose bodies are whole. Waits `TICK_MS` only if one of them is not known to be whole. */
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
    return size > 0 && (now === null || now.size === size); // the next pass finds a message that was renamed
  };
  return box.unread.filter((message) => isKnownWhole(message) || isUnchanged(message));
}

/** Returns true when a file no longer had its name, which means that it was renamed. */
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
      left.set(file, toFault(error, { is: 'source', key: `garden:${gardenId}` }).message); // what was read must be returned
    }
  }
  return moved;
}

type ArchiveResult =
  | { readonly is: 'read'; readonly body: string }
  | { readonly is: 'moved' }
  | { readonly is: 'refused'; readonly why: string };

/** Archives a message. The rename decides: of several readers of a body, only one can rename it. */
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
    if (readStat(disk, archived) !== null) return { is: 'refused', why: `would overwrite ${file}.read` };
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

/** Reads what a slow sender still added. It writes into the same file, whatever its name is by now. */
function readGrown(disk: Disk, fd: number, body: Buffer): Buffer {
  try {
    const { size } = disk.files.fstat(fd);
    return size > body.length && size <= MOST_BODY ? readBytes(disk, fd, size) : body;
  } catch {
    return body; // it is archived, so the reader must get what was read
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
