import { writeAtomically } from '../../../state/index.ts';
import {
  type Places,
  type Receipt,
  type RecordV1,
  readReceipt,
  receiptFile,
  shownReceipt,
  type Times,
} from '../read/index.ts';
import type { Hand } from './hand.ts';
import { receiptText } from './texts.ts';

/**
 * Writes one time of a receipt. Others write it as well and nobody locks, so it is read and written without anything
 * between (garden contract 3, trap 6).
 * @throws Fault `garden` when what is there is no receipt; `unwritable` or `no-space`
 */
export function stamp(hand: Hand, places: Places, gardenId: string, field: keyof Times, time: string): Receipt {
  const receipt = { ...readReceipt(hand.disk, places.mailbox, gardenId), [field]: time };
  write(hand, places, receipt);
  return receipt;
}

/**
 * Copies what a v1 record knows of its mail into the receipt, where that knows nothing; writes nothing if there is nothing
 * to copy. Called before the record is rewritten: a kill between the two leaves both (garden contract 3, trap 2).
 */
export function migrateReceipts(hand: Hand, places: Places, record: RecordV1): void {
  const state = readReceipt(hand.disk, places.mailbox, record.gardenId);
  const merged = shownReceipt(state, record);
  if (receiptText(merged) !== receiptText(state)) write(hand, places, merged);
}

function write(hand: Hand, places: Places, receipt: Receipt): void {
  writeAtomically(hand.disk, hand.random, receiptFile(places.mailbox, receipt.gardenId), receiptText(receipt));
}
