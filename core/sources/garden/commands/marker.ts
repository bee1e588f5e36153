import { toUsageFault } from '../../../command/index.ts';
import { displayName } from '../../../format/index.ts';
import { findWorkFolder } from '../../../state/index.ts';
import { listRecords, readRecord, writeReceiver, writeSender } from '../index.ts';
import type { GardenArgs } from './args.ts';
import { formatTable, type GardenContext, prefixDefects, printJson, reportDefects } from './garden-context.ts';
import { findMarkers, isMarkerOfRecord, type ObservedMarker } from './markers.ts';

/** Writes a marker. Backend and session come from the record, because a marker that names others would be useless. */
export async function writeMarker({ words, flags }: GardenArgs, context: GardenContext): Promise<number> {
  const { places, hand, asks, io } = context;
  const [kind] = words;
  if (kind !== 'receiver' && kind !== 'sender')
    throw toUsageFault(new Error('garden marker write: say receiver or sender'));
  const foreign = kind === 'sender' ? (['provenance', 'owner-kind'] as const) : (['cwd'] as const);
  for (const flag of foreign) {
    if (flags[flag] !== undefined) throw toUsageFault(new Error(`garden marker write ${kind} takes no --${flag}`));
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
  else io.out(`${gardenId} has the ${kind} ${ownerPid}\n`);
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
  const rows = [...receivers.map((marker) => row('receiver', marker)), ...senders.map((one) => row('sender', one))];
  if (rows.length > 0) io.out(formatTable([['KIND', 'OWNER', 'PID', 'SESSION', 'CITIZEN'], ...rows], [2]));
  else io.out('no markers\n');
  reportDefects(context, defects);
  return 0;
}

function parsePid(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw toUsageFault(new Error(`--pid ${text}: say the number of a process`));
}
