import { readReceipt, shownReceipt } from '../../../core/sources/garden/index.ts';
import { printable } from '../../printable.ts';
import type { GardenArgs } from './args.ts';
import { aligned, type Ground, sayJson } from './ground.ts';
import { noteIfNobody } from './nobody.ts';

export function showReceipt({ flags }: GardenArgs, ground: Ground): number {
  const { io, places, hand } = ground;
  const state = readReceipt(hand.disk, places.mailbox, flags.id ?? '');
  const record = noteIfNobody(ground, state.gardenId);
  const receipt = record === null ? state : shownReceipt(state, record);
  if (ground.asJson) {
    sayJson(ground, { receipt });
    return 0;
  }
  const { lastEnqueuedAt, lastDeliveredAt, lastReadAt } = receipt;
  const times = Object.entries({ lastEnqueuedAt, lastDeliveredAt, lastReadAt });
  io.out(aligned(times.map(([key, time]) => [key, printable(time ?? 'never')])));
  return 0;
}
