import { listRecords, readRecord, writeReceiver, writeSender } from '../../../core/sources/garden/index.ts';
import { printable } from '../../printable.ts';
import { usage } from '../outcome.ts';
import { surroundings } from '../session-surroundings.node.ts';
import type { GardenArgs } from './args.ts';
import { aligned, below, complainOf, type Ground, sayJson } from './ground.ts';
import { isOf, markersIn, type Seen } from './markers.ts';

/** Backend and session are those of the record: a marker that names others would say nothing. */
export async function writeMarker({ words, flags }: GardenArgs, ground: Ground): Promise<number> {
  const { places, hand, asks, io } = ground;
  const [kind] = words;
  if (kind !== 'receiver' && kind !== 'sender') throw usage(new Error('garden marker write: say receiver or sender'));
  const foreign = kind === 'sender' ? (['provenance', 'owner-kind'] as const) : (['cwd'] as const);
  for (const flag of foreign) {
    if (flags[flag] !== undefined) throw usage(new Error(`garden marker write ${kind} takes no --${flag}`));
  }
  const ownerPid = pidOf(flags.pid ?? '');
  const { gardenId, backend, nativeSessionId } = readRecord(hand.disk, places.sessions, flags.id ?? '');
  const given = { gardenId, backend, nativeSessionId, ownerPid };
  const path =
    kind === 'sender'
      ? await writeSender(hand, places, asks.processes, { ...given, cwd: flags.cwd ?? surroundings().cwd })
      : await writeReceiver(hand, places, asks.processes, {
          ...given,
          armProvenance: flags.provenance ?? 'session-start',
          ownerKind: flags['owner-kind'],
        });
  if (ground.asJson) sayJson(ground, { kind, gardenId, ownerPid, path });
  else io.out(`${gardenId} has the ${kind} ${ownerPid}\n`);
  return 0;
}

export async function showMarkers({ flags }: GardenArgs, ground: Ground): Promise<number> {
  const { places, hand, io } = ground;
  const { id } = flags;
  if (id !== undefined) readRecord(hand.disk, places.sessions, id);
  const markers = await markersIn(ground);
  const records = new Map(listRecords(hand.disk, places.sessions).records.map((one) => [one.gardenId, one]));
  const shown = <M extends Parameters<typeof isOf>[0]>(seen: readonly Seen<M>[]) =>
    seen
      .filter(({ filename, marker }) => id === undefined || marker.gardenId === id || filename === `${id}.json`)
      .map(({ filename, marker, owner }) => ({
        ...{ filename, ...marker, owner },
        isOfRecord: isOf(marker, records.get(marker.gardenId)),
      }));
  const receivers = shown(markers.receivers);
  const senders = shown(markers.senders);
  const defects = [
    ...below(places.receivers, markers.receiverErrors),
    ...below(places.senders, id === undefined ? markers.senderErrors : []),
  ].filter(({ filename }) => id === undefined || filename.endsWith(`/${id}.json`));
  if (ground.asJson) {
    sayJson(ground, { receivers, senders, defects });
    return 0;
  }
  const row = (kind: string, one: (typeof receivers)[number] | (typeof senders)[number]): readonly string[] => [
    ...[kind, one.owner, `${one.ownerPid}`, one.isOfRecord ? 'as its record' : 'not as its record'],
    printable(`${one.gardenId}  ${one.backend}`),
  ];
  const rows = [...receivers.map((one) => row('receiver', one)), ...senders.map((one) => row('sender', one))];
  if (rows.length > 0) io.out(aligned([['KIND', 'OWNER', 'PID', 'SESSION', 'CITIZEN'], ...rows], [2]));
  else io.out('no markers\n');
  complainOf(ground, defects);
  return 0;
}

function pidOf(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw usage(new Error(`--pid ${text}: say the number of a process`));
}
