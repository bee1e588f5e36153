import { toUsageFault } from '../../../command/index.ts';
import { displayName } from '../../../format/index.ts';
import { type Disk, findWorkFolder, getErrno, toIoFault } from '../../../state/index.ts';
import {
  type Defect,
  isGardenId,
  judgeOwner,
  listRecords,
  type MetaRecord,
  type OwnerState,
  type ReceiverMarker,
  readReceiver,
  readRecord,
  readSenders,
  type SenderMarker,
  writeReceiver,
  writeSender,
} from '../index.ts';
import type { GardenArgs } from './args.ts';
import { formatTable, type GardenContext, prefixDefects, printJson, reportDefects } from './garden-context.ts';

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
        : ({ is: 'defect', why: 'does not have the name of a marker' } as const);
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

/** Writes a marker. Backend and session come from the record, because a marker that names others would be useless. */
export async function writeMarker({ words, flags }: GardenArgs, context: GardenContext): Promise<number> {
  const { places, hand, asks, io } = context;
  const [kind] = words;
  if (kind !== 'receiver' && kind !== 'sender')
    throw toUsageFault(new Error('garden marker write: expected receiver or sender'));
  const foreign = kind === 'sender' ? (['provenance', 'owner-kind'] as const) : (['cwd'] as const);
  for (const flag of foreign) {
    if (flags[flag] !== undefined) throw toUsageFault(new Error(`garden marker write ${kind}: unknown flag --${flag}`));
  }
  const ownerPid = parsePid(flags.pid ?? '');
  const { gardenId, backend, nativeSessionId } = readRecord(hand.disk, places.sessions, flags.id ?? '');
  const identity = { gardenId, backend, nativeSessionId, ownerPid };
  const path =
    kind === 'sender'
      ? await writeSender(hand, places, asks.readProcesses, { ...identity, cwd: flags.cwd ?? findWorkFolder() })
      : await writeReceiver(hand, places, asks.readProcesses, {
          ...identity,
          armProvenance: flags.provenance ?? 'session-start',
          ownerKind: flags['owner-kind'],
        });
  if (context.asJson) printJson(context, { kind, gardenId, ownerPid, path });
  else io.out(`${gardenId} now has process ${ownerPid} as its ${kind}\n`);
  return 0;
}

export async function showMarkers({ flags }: GardenArgs, context: GardenContext): Promise<number> {
  const { places, hand, io } = context;
  const { id } = flags;
  if (id !== undefined) readRecord(hand.disk, places.sessions, id);
  const markers = await findMarkers(context);
  const records = new Map(listRecords(hand.disk, places.sessions).records.map((record) => [record.gardenId, record]));
  const listShown = <M extends Parameters<typeof isMarkerOfRecord>[0]>(observed: readonly ObservedMarker<M>[]) =>
    observed
      .filter(({ filename, marker }) => id === undefined || marker.gardenId === id || filename === `${id}.json`)
      .map(({ filename, marker, owner }) => ({
        ...{ filename, ...marker, owner },
        isOfRecord: isMarkerOfRecord(marker, records.get(marker.gardenId)),
      }));
  const receivers = listShown(markers.receivers);
  const senders = listShown(markers.senders);
  const defects = [
    ...prefixDefects(places.receivers, markers.receiverErrors),
    ...prefixDefects(places.senders, id === undefined ? markers.senderErrors : []),
  ].filter(({ filename }) => id === undefined || filename.endsWith(`/${id}.json`));
  if (context.asJson) {
    printJson(context, { receivers, senders, defects });
    return 0;
  }
  const row = (kind: string, marker: (typeof receivers)[number] | (typeof senders)[number]): readonly string[] => [
    ...[kind, marker.owner, `${marker.ownerPid}`, marker.isOfRecord ? 'as its record' : 'not as its record'],
    displayName(`${marker.gardenId}  ${marker.backend}`),
  ];
  const rows = [
    ...receivers.map((marker) => row('receiver', marker)),
    ...senders.map((sender) => row('sender', sender)),
  ];
  if (rows.length > 0) io.out(formatTable([['KIND', 'OWNER', 'PID', 'SESSION', 'CITIZEN'], ...rows], [2]));
  else io.out('no markers\n');
  reportDefects(context, defects);
  return 0;
}

function parsePid(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw toUsageFault(new Error(`--pid ${text}: must be the number of a process`));
}

/** Lists a directory, sorted; empty when it does not exist. @throws Fault `unreadable` */
export function listNames(disk: Disk, directory: string): readonly string[] {
  try {
    return disk.files.readdir(directory).sort();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw toIoFault(error, directory, 'unreadable');
  }
}
