import { basename } from 'node:path';
import { Fault } from '../../../model/index.ts';
import {
  type BoxState,
  type Defect,
  findStrays,
  listRecords,
  type MetaRecord,
  mergeReceipt,
  type Receipt,
  readBox,
  readReceipt,
  readStoreLiveness,
  type StoreLiveness,
} from '../index.ts';
import { type GardenContext, prefixDefects } from './garden-context.ts';

export interface CitizenView {
  readonly record: MetaRecord;
  readonly box: BoxState;
  /** Null when the file is no receipt. */
  readonly receipt: Receipt | null;
}

/** A whole store. File names are relative to it, with their directory. */
export interface GardenView {
  readonly citizens: readonly CitizenView[];
  readonly agents: StoreLiveness['agents'];
  /** Invalid records, boxes, receipts and markers. */
  readonly defects: readonly Defect[];
  /** Boxes without a citizen, and files with a wrong name. */
  readonly strays: readonly Defect[];
}

/** @throws Fault `unreadable` when a directory of the store cannot be read */
export async function loadView(context: GardenContext): Promise<GardenView> {
  const { places, hand, asks } = context;
  const { records, errors } = listRecords(hand.disk, places.sessions);
  const ofBoxes: Defect[] = [];
  const citizens = records.map((record) => loadCitizen(context, record, ofBoxes));
  const unread = new Map(citizens.map(({ record, box }) => [record.gardenId, countUnread(box) ?? 0]));
  const { agents, errors: ofMarkers } = await readStoreLiveness(hand.disk, places, asks, records, unread);
  const markers = ofMarkers.flatMap((defect) => prefixDefects(findMarkerFolder(context, defect), [defect]));
  return {
    citizens,
    agents,
    defects: [...prefixDefects(places.sessions, errors), ...prefixDefects(places.mailbox, ofBoxes), ...markers],
    strays: prefixDefects(places.mailbox, listStrays(context, records, errors)),
  };
}

/** Counts the waiting messages; null: unknown. */
export function countUnread(box: BoxState): number | null {
  if (box.is === 'box') return box.unread.length;
  return box.is === 'none' ? 0 : null;
}

function loadCitizen({ places, hand }: GardenContext, record: MetaRecord, defects: Defect[]): CitizenView {
  const { gardenId } = record;
  const box = readBox(hand.disk, places.mailbox, gardenId);
  if (box.is === 'refused') {
    defects.push({ filename: gardenId, message: box.why });
    return { record, box, receipt: null };
  }
  if (box.is === 'box') {
    defects.push(...box.errors.map(({ filename, message }) => ({ filename: `${gardenId}/${filename}`, message })));
  }
  try {
    return { record, box, receipt: mergeReceipt(readReceipt(hand.disk, places.mailbox, gardenId), record) };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    defects.push({ filename: `${gardenId}/state.json`, message: error.message });
    return { record, box, receipt: null };
  }
}

/** Chooses the folder of a marker: a sender's marker has its backend before the name, a receiver's has not. */
function findMarkerFolder({ places }: GardenContext, { filename }: Defect): string {
  return filename.endsWith('.json') && !filename.includes('/') ? places.receivers : places.senders;
}

function listStrays(
  { places, hand }: GardenContext,
  records: readonly MetaRecord[],
  errors: readonly Defect[],
): Defect[] {
  const citizens = new Set(records.map(({ gardenId }) => gardenId));
  const spoilt = new Set(errors.map(({ filename }) => basename(filename, '.meta.json')));
  const { boxes, others: misnamed } = findStrays(hand.disk, places.mailbox, citizens);
  const ofBoxes = boxes.map((gardenId) => {
    const box = readBox(hand.disk, places.mailbox, gardenId);
    const whose = spoilt.has(gardenId) ? 'its record is a defect' : 'a box without a citizen';
    const waits = box.is === 'refused' ? box.why : formatWaiting(countUnread(box) ?? 0);
    return { filename: gardenId, message: `${whose}; ${waits}` };
  });
  return [...ofBoxes, ...misnamed.map((filename) => ({ filename, message: 'is not named like the box of a citizen' }))];
}

export function formatWaiting(unread: number): string {
  return unread === 1 ? '1 message waits in it' : `${unread === 0 ? 'no' : unread} messages wait in it`;
}
