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
 * Writes one time of a receipt. Others write receipts as well and nobody locks, so nothing happens between the read and the write
 * (garden contract 3, trap 6).
 * @throws Fault `garden` when the file is no receipt; `unwritable` or `no-space`
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
 * Copies the mail times of a v1 record into the receipt, where the receipt has none; writes nothing when there is nothing to
 * copy. Call it before the record is rewritten: after a kill in between, both files exist (garden contract 3, trap 2).
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
