import { displayName } from '../../../format/index.ts';
import { mergeReceipt, readReceipt } from '../index.ts';
import type { GardenArgs } from './args.ts';
import { formatTable, type GardenContext, printJson } from './garden-context.ts';
import { findRecordOrReport } from './record-lookup.ts';

export function showReceipt({ flags }: GardenArgs, context: GardenContext): number {
  const { io, places, hand } = context;
  const state = readReceipt(hand.disk, places.mailbox, flags.id ?? '');
  const record = findRecordOrReport(context, state.gardenId);
  const receipt = record === null ? state : mergeReceipt(state, record);
  if (context.asJson) {
    printJson(context, { receipt });
    return 0;
  }
  const { lastEnqueuedAt, lastDeliveredAt, lastReadAt } = receipt;
  const times = Object.entries({ lastEnqueuedAt, lastDeliveredAt, lastReadAt });
  io.out(formatTable(times.map(([key, time]) => [key, displayName(time ?? 'never')])));
  return 0;
}
