import { writeAtomically } from '../../../state/index.ts';
import {
  type GardenPlaces,
  mergeReceipt,
  type Receipt,
  type RecordV1,
  readReceipt,
  type Times,
  toReceiptPath,
} from '../read/index.ts';
import { formatReceipt } from './formats.ts';
import type { WriteContext } from './write-context.ts';

/**
 * Writes one time of a receipt. Others write it as well and nobody locks, so it is read and written without anything
 * between (garden contract 3, trap 6).
 * @throws Fault `garden` when what is there is no receipt; `unwritable` or `no-space`
 */
export function stampReceipt(
  context: WriteContext,
  places: GardenPlaces,
  gardenId: string,
  field: keyof Times,
  time: string,
): Receipt {
  const receipt = { ...readReceipt(context.disk, places.mailbox, gardenId), [field]: time };
  writeReceipt(context, places, receipt);
  return receipt;
}

/**
 * Copies what a v1 record knows of its mail into the receipt, where that knows nothing; writes nothing if there is nothing
 * to copy. Called before the record is rewritten: a kill between the two leaves both (garden contract 3, trap 2).
 */
export function migrateReceipts(context: WriteContext, places: GardenPlaces, record: RecordV1): void {
  const state = readReceipt(context.disk, places.mailbox, record.gardenId);
  const merged = mergeReceipt(state, record);
  if (formatReceipt(merged) !== formatReceipt(state)) writeReceipt(context, places, merged);
}

function writeReceipt(context: WriteContext, places: GardenPlaces, receipt: Receipt): void {
  writeAtomically(
    context.disk,
    context.random,
    toReceiptPath(places.mailbox, receipt.gardenId),
    formatReceipt(receipt),
  );
}
