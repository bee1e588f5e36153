import { basename } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import {
  type Agents,
  agentsOf,
  type BoxLook,
  type Defect,
  listRecords,
  lookInBox,
  type MetaRecord,
  type Receipt,
  readReceipt,
  shownReceipt,
  straysIn,
} from '../../../core/sources/garden/index.ts';
import { below, type Ground } from './ground.ts';

export interface CitizenView {
  readonly record: MetaRecord;
  readonly box: BoxLook;
  /** Null when the file is none. */
  readonly receipt: Receipt | null;
}

/** A store as a whole. File names are below it, with their directory. */
export interface View {
  readonly citizens: readonly CitizenView[];
  readonly agents: Agents['agents'];
  /** Records, boxes, receipts and markers that are none. */
  readonly defects: readonly Defect[];
  /** What belongs to nobody. */
  readonly strays: readonly Defect[];
}

/** @throws Fault `unreadable` when a directory of the store can not be read */
export async function viewOf(ground: Ground): Promise<View> {
  const { places, hand, asks } = ground;
  const { records, errors } = listRecords(hand.disk, places.sessions);
  const ofBoxes: Defect[] = [];
  const citizens = records.map((record) => citizenOf(ground, record, ofBoxes));
  const unread = new Map(citizens.map(({ record, box }) => [record.gardenId, unreadIn(box) ?? 0]));
  const { agents, errors: ofMarkers } = await agentsOf(hand.disk, places, asks, records, unread);
  const markers = ofMarkers.flatMap((one) => below(markersOf(ground, one), [one]));
  return {
    citizens,
    agents,
    defects: [...below(places.sessions, errors), ...below(places.mailbox, ofBoxes), ...markers],
    strays: below(places.mailbox, straysOf(ground, records, errors)),
  };
}

/** How many wait; null: not known. */
export function unreadIn(box: BoxLook): number | null {
  if (box.is === 'box') return box.unread.length;
  return box.is === 'none' ? 0 : null;
}

function citizenOf({ places, hand }: Ground, record: MetaRecord, defects: Defect[]): CitizenView {
  const { gardenId } = record;
  const box = lookInBox(hand.disk, places.mailbox, gardenId);
  if (box.is === 'refused') {
    defects.push({ filename: gardenId, message: box.why });
    return { record, box, receipt: null };
  }
  if (box.is === 'box') {
    defects.push(...box.errors.map(({ filename, message }) => ({ filename: `${gardenId}/${filename}`, message })));
  }
  try {
    return { record, box, receipt: shownReceipt(readReceipt(hand.disk, places.mailbox, gardenId), record) };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    defects.push({ filename: `${gardenId}/state.json`, message: error.message });
    return { record, box, receipt: null };
  }
}

/** A sender's marker is named with its backend before it, a receiver's alone. */
function markersOf({ places }: Ground, { filename }: Defect): string {
  return filename.endsWith('.json') && !filename.includes('/') ? places.receivers : places.senders;
}

function straysOf({ places, hand }: Ground, records: readonly MetaRecord[], errors: readonly Defect[]): Defect[] {
  const citizens = new Set(records.map(({ gardenId }) => gardenId));
  const spoilt = new Set(errors.map(({ filename }) => basename(filename, '.meta.json')));
  const { boxes, others } = straysIn(hand.disk, places.mailbox, citizens);
  const ofBoxes = boxes.map((gardenId) => {
    const box = lookInBox(hand.disk, places.mailbox, gardenId);
    const whose = spoilt.has(gardenId) ? 'its record is a defect' : 'a box without a citizen';
    const waits = box.is === 'refused' ? box.why : waiting(unreadIn(box) ?? 0);
    return { filename: gardenId, message: `${whose}; ${waits}` };
  });
  return [...ofBoxes, ...others.map((filename) => ({ filename, message: 'is not named like the box of a citizen' }))];
}

export function waiting(unread: number): string {
  return unread === 1 ? '1 message waits in it' : `${unread === 0 ? 'no' : unread} messages wait in it`;
}
