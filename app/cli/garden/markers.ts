import {
  type Defect,
  isGardenId,
  type MetaRecord,
  type Owner,
  ownerOf,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  type SenderMarker,
} from '../../../core/sources/garden/index.ts';
import type { Ground } from './ground.ts';
import { namesIn } from './names.ts';

export interface Seen<M> {
  /** Below its directory. */
  readonly filename: string;
  readonly marker: M;
  readonly owner: Owner;
}

export interface Markers {
  readonly receivers: readonly Seen<ReceiverMarker>[];
  readonly senders: readonly Seen<SenderMarker>[];
  readonly receiverErrors: readonly Defect[];
  readonly senderErrors: readonly Defect[];
}

/** Every marker of a store, with whether its owner lives. */
export async function markersIn({ places, hand, asks }: Ground): Promise<Markers> {
  const receiverErrors: Defect[] = [];
  const receivers = namesIn(hand.disk, places.receivers)
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
  const processes = await asks.processes([...receivers, ...senders].map(({ marker }) => marker.ownerPid));
  const owner = ({ ownerPid, ownerStartKey }: ReceiverMarker | SenderMarker): Owner =>
    ownerOf(ownerPid, ownerStartKey, processes.get(ownerPid));
  return {
    receivers: receivers.map((one) => ({ ...one, owner: owner(one.marker) })),
    senders: senders.map((one) => ({ ...one, owner: owner(one.marker) })),
    receiverErrors,
    senderErrors: errors,
  };
}

/** Whose session a marker names is its citizen's. */
export function isOf(marker: ReceiverMarker | SenderMarker, record: MetaRecord | undefined): boolean {
  return record?.backend === marker.backend && record.nativeSessionId === marker.nativeSessionId;
}
