import {
  type Defect,
  isGardenId,
  judgeOwner,
  type MetaRecord,
  type OwnerState,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  type SenderMarker,
} from '../index.ts';
import type { GardenContext } from './garden-context.ts';
import { listNames } from './names.ts';

export interface ObservedMarker<M> {
  /** Relative to the markers' directory. */
  readonly filename: string;
  readonly marker: M;
  readonly owner: OwnerState;
}

export interface Markers {
  readonly receivers: readonly ObservedMarker<ReceiverMarker>[];
  readonly senders: readonly ObservedMarker<SenderMarker>[];
  readonly receiverErrors: readonly Defect[];
  readonly senderErrors: readonly Defect[];
}

/** Returns every marker of a store, and whether its owner lives. */
export async function findMarkers({ places, hand, asks }: GardenContext): Promise<Markers> {
  const receiverErrors: Defect[] = [];
  const receivers = listNames(hand.disk, places.receivers)
    .filter((name) => name.endsWith('.json'))
    .flatMap((filename): { filename: string; marker: ReceiverMarker }[] => {
      const gardenId = filename.slice(0, -'.json'.length);
      const read = isGardenId(gardenId)
        ? readReceiver(hand.disk, places.receivers, gardenId)
        : ({ is: 'defect', why: 'is not named like the marker of a citizen' } as const);
      if (read.is === 'defect') receiverErrors.push({ filename, message: read.why });
      return read.is === 'marker' ? [{ filename, marker: read.marker }] : [];
    });
  const { markers, errors } = readSenders(hand.disk, places.senders);
  const senders = markers.map((marker) => ({ filename: `${marker.backend}/${marker.ownerPid}.json`, marker }));
  const processes = await asks.readProcesses([...receivers, ...senders].map(({ marker }) => marker.ownerPid));
  const findOwner = ({ ownerPid, ownerStartKey }: ReceiverMarker | SenderMarker): OwnerState =>
    judgeOwner(ownerPid, ownerStartKey, processes.get(ownerPid));
  return {
    receivers: receivers.map((entry) => ({ ...entry, owner: findOwner(entry.marker) })),
    senders: senders.map((entry) => ({ ...entry, owner: findOwner(entry.marker) })),
    receiverErrors,
    senderErrors: errors,
  };
}

/** Whether a marker names the backend and session of a record. Then it belongs to that citizen. */
export function isMarkerOfRecord(marker: ReceiverMarker | SenderMarker, record: MetaRecord | undefined): boolean {
  return record?.backend === marker.backend && record.nativeSessionId === marker.nativeSessionId;
}
