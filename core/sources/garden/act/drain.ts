import { join } from 'node:path';
import { faultOf } from '../../../model/index.ts';
import { type Disk, errnoOf } from '../../../state/index.ts';
import { gardenFault } from '../fault.ts';
import {
  type Box,
  type BoxLook,
  boxDirectory,
  bytesFrom,
  type Defect,
  isAnnounced,
  isLeftEmpty,
  lookInBox,
  MOST_BODY,
  openSmall,
  ownersOf,
  type Places,
  readReceipt,
  readRecord,
  statOf,
  type Unread,
  utcOf,
} from '../read/index.ts';
import type { Hand } from './hand.ts';
import { stamp } from './receipts.ts';

export interface Read {
  /** Its name before it was read. */
  readonly file: string;
  readonly stem: string;
  readonly body: string;
}

export interface Drained {
  readonly gardenId: string;
  readonly messages: readonly Read[];
  /** The time in the receipt; null when nothing was read. */
  readonly readAt: string | null;
  /** What waits and was not read, and why; also a receipt that could not be written. */
  readonly left: readonly Defect[];
}

/** How long a size must stand still for a body to count as whole. */
const TICK_MS = 50;
/** A doorbell that renames a file under our hands does so once for each. */
const LOOKS = 20;

/**
 * Reads everything that waits in a citizen's box, oldest first, and archives it by its name, so that it is read once. A
 * message counts as read when it was archived, whoever else drains or rings meanwhile; a body that is still being written
 * is left. Nothing that waits: nothing is changed (garden contract 4, and traps 4 and 5).
 * @throws Fault `garden` or `unreadable`, and then nothing was changed: what was read is always returned
 */
export async function drain(hand: Hand, places: Places, gardenId: string, signal: AbortSignal): Promise<Drained> {
  const citizen = readRecord(hand.disk, places.sessions, gardenId);
  const messages: Read[] = [];
  const left = new Map<string, string>();
  let box = lookInBox(hand.disk, places.mailbox, citizen.gardenId);
  if (box.is === 'refused') throw gardenFault(`${boxDirectory(places.mailbox, gardenId)} ${box.why}`, gardenId);
  if (box.is === 'box' && box.unread.length > 0) readReceipt(hand.disk, places.mailbox, citizen.gardenId);
  for (let look = 1; box.is === 'box' && look <= LOOKS; look += 1) {
    left.clear();
    for (const { filename, message } of box.errors) left.set(filename, message);
    const whole = await settled(hand, places, citizen.gardenId, box, signal);
    const moved = archive(hand, places, citizen.gardenId, whole, messages, left);
    for (const { file } of box.unread) if (!whole.some((one) => one.file === file)) left.set(file, WRITTEN);
    if (!moved) break;
    box = lookAgain(hand, places, citizen.gardenId, left);
  }
  const readAt = messages.length === 0 ? null : stamped(hand, places, citizen.gardenId, left);
  return {
    ...{ gardenId: citizen.gardenId, messages, readAt },
    left: [...left].map(([filename, message]) => ({ filename, message })),
  };
}

const WRITTEN = 'is still being written';

/** Those whose bodies are whole. Waits for a tick only if one of them is not known to be. */
async function settled(
  hand: Hand,
  places: Places,
  gardenId: string,
  box: Box,
  signal: AbortSignal,
): Promise<readonly Unread[]> {
  const known = (one: Unread): boolean => isAnnounced(one, box.signal) || isLeftEmpty(one, hand.clock.now());
  if (box.unread.every(known)) return box.unread;
  await hand.clock.sleep(TICK_MS, signal);
  const directory = boxDirectory(places.mailbox, gardenId);
  const stands = ({ file, size }: Unread): boolean => {
    const now = statOf(hand.disk, join(directory, file));
    return size > 0 && (now === null || now.size === size); // one that was renamed is found by the next look
  };
  return box.unread.filter((one) => known(one) || stands(one));
}

/** True when a file was not under its name any more: then it is under another. */
function archive(
  hand: Hand,
  places: Places,
  gardenId: string,
  whole: readonly Unread[],
  messages: Read[],
  left: Map<string, string>,
): boolean {
  let moved = false;
  for (const { file, stem } of whole) {
    try {
      const taken = take(hand, places, gardenId, file);
      if (taken.is === 'read') messages.push({ file, stem, body: taken.body });
      if (taken.is === 'refused') left.set(file, taken.why);
      if (taken.is === 'moved') moved = true;
    } catch (error) {
      left.set(file, faultOf(error, { is: 'source', key: `garden:${gardenId}` }).message); // what was read is still ours to return
    }
  }
  return moved;
}

type Taken =
  | { readonly is: 'read'; readonly body: string }
  | { readonly is: 'moved' }
  | { readonly is: 'refused'; readonly why: string };

/** The name is what counts: of several who read a body, one renames it. */
function take({ disk }: Hand, places: Places, gardenId: string, file: string): Taken {
  const directory = boxDirectory(places.mailbox, gardenId);
  const path = join(directory, file);
  const archived = `${path}.read`;
  const opened = openSmall(disk, path, ownersOf(disk, places.mailbox));
  if (opened.is === 'absent') return { is: 'moved' };
  if (opened.is === 'refused') return opened;
  try {
    const { size } = opened.stat;
    if (size > MOST_BODY) return { is: 'refused', why: `is ${size} bytes long, over ${MOST_BODY}` };
    if (statOf(disk, archived) !== null) return { is: 'refused', why: `would take the place of ${file}.read` };
    const body = bytesFrom(disk, opened.fd, size);
    disk.files.rename(path, archived);
    return { is: 'read', body: grown(disk, opened.fd, body).toString('utf8') };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { is: 'moved' };
    throw error;
  } finally {
    disk.files.close(opened.fd);
  }
}

/** A sender that is slow still writes into the file, whatever its name is by now. */
function grown(disk: Disk, fd: number, body: Buffer): Buffer {
  try {
    const { size } = disk.files.fstat(fd);
    return size > body.length && size <= MOST_BODY ? bytesFrom(disk, fd, size) : body;
  } catch {
    return body; // it is archived: what is known of it must reach the reader
  }
}

function lookAgain(hand: Hand, places: Places, gardenId: string, left: Map<string, string>): BoxLook {
  try {
    const box = lookInBox(hand.disk, places.mailbox, gardenId);
    if (box.is === 'refused') left.set(gardenId, box.why);
    return box;
  } catch (error) {
    left.set(gardenId, faultOf(error, { is: 'source', key: `garden:${gardenId}` }).message);
    return { is: 'none' };
  }
}

function stamped(hand: Hand, places: Places, gardenId: string, left: Map<string, string>): string | null {
  try {
    return stamp(hand, places, gardenId, 'lastReadAt', utcOf(hand.clock.now())).lastReadAt;
  } catch (error) {
    left.set('state.json', faultOf(error, { is: 'source', key: `garden:${gardenId}` }).message);
    return null;
  }
}
