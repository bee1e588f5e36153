import { judgeOwner, readReceiver, readSenders } from '../index.ts';
import { listAncestors } from './ancestors.node.ts';
import type { GardenContext } from './garden-context.ts';

const PERSONA = /^garden-(.+)$/;

/**
 * Finds the citizens that the caller may be: the one of `--as`, else the one of HIVEBAR_PERSONA. Otherwise these are the
 * citizens whose marker names a process above this one. Empty: unknown.
 */
export async function findCallers(
  context: GardenContext,
  as: string | undefined,
  gardenId: string,
): Promise<readonly string[]> {
  if (as !== undefined) return [as];
  const persona = PERSONA.exec(context.io.env.HIVEBAR_PERSONA ?? '')?.[1];
  if (persona !== undefined) return [persona];
  const { places, hand, asks } = context;
  const receiver = readReceiver(hand.disk, places.receivers, gardenId);
  const markers = [
    ...readSenders(hand.disk, places.senders).markers,
    ...(receiver.is === 'marker' && receiver.marker.gardenId === gardenId ? [receiver.marker] : []),
  ];
  const above = new Set(listAncestors());
  const near = markers.filter(({ ownerPid }) => above.has(ownerPid));
  const processes = await asks.readProcesses(near.map(({ ownerPid }) => ownerPid));
  const live = near.filter(
    ({ ownerPid, ownerStartKey }) => judgeOwner(ownerPid, ownerStartKey, processes.get(ownerPid)) === 'live',
  );
  return [...new Set(live.map((marker) => marker.gardenId))];
}
