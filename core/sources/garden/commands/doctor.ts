import { basename, resolve } from 'node:path';
import { displayName } from '../../../format/index.ts';
import { Fault } from '../../../model/index.ts';
import { findWorkFolder } from '../../../state/index.ts';
import { type Defect, findDrift, findMixedGenerations, readCapabilities } from '../index.ts';
import type { GardenArgs } from './args.ts';
import { type GardenContext, prefixDefects, printJson, reportMissingStore } from './garden-context.ts';
import { findMarkers, isMarkerOfRecord, type Markers, type ObservedMarker } from './markers.ts';
import { type GardenView, loadView } from './view.ts';

const CERTIFIED = 0;
const DEFECTS = 1;
const UNREADABLE = 3;

/** The registry in a checkout of entwurf. */
const REGISTRY = 'pi/entwurf-capabilities.json';

/** Examines whether a store is in order. It changes nothing. */
export async function examine({ flags }: GardenArgs, context: GardenContext): Promise<number> {
  try {
    return report(
      context,
      await loadView(context),
      await findMarkers(context),
      checkRegistry(context, flags.capabilities),
    );
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'unreadable') throw error;
    if (context.asJson) printJson(context, { certified: false, unreadable: error.message, defects: [], notes: [] });
    context.io.err(`hivebar garden: ${displayName(error.explain())}\n`);
    return UNREADABLE;
  }
}

function report(context: GardenContext, view: GardenView, markers: Markers, ofRegistry: readonly Defect[]): number {
  const { io, places } = context;
  const known = new Set(view.defects.map(({ filename }) => filename));
  const ofMarkers = [
    ...prefixDefects(places.receivers, [...markers.receiverErrors, ...findImplausible(markers.receivers)]),
    ...prefixDefects(places.senders, [...markers.senderErrors, ...findImplausible(markers.senders)]),
  ].filter(({ filename }) => !known.has(filename));
  const mixed = findMixedGenerations(view.citizens.map(({ record }) => record));
  const ofStore = mixed === null ? [] : [{ ...mixed, filename: basename(places.sessions) }];
  const defects = [...ofStore, ...view.defects, ...ofMarkers, ...ofRegistry];
  const notes = [
    ...view.strays,
    ...prefixDefects(places.mailbox, findNoDrain(view)),
    ...prefixDefects(places.receivers, findIdle(view, markers.receivers)),
    ...prefixDefects(places.senders, findIdle(view, markers.senders)),
  ];
  const certified = defects.length === 0;
  if (context.asJson) {
    printJson(context, { certified, citizens: view.citizens.length, defects, notes });
    return certified ? CERTIFIED : DEFECTS;
  }
  const lines = (word: string, listed: readonly Defect[]): void => {
    for (const { filename, message } of listed) io.out(`${word}  ${displayName(`${filename}: ${message}`)}\n`);
  };
  lines('defect', defects);
  lines('note  ', notes);
  const count = `${view.citizens.length} ${view.citizens.length === 1 ? 'citizen' : 'citizens'}`;
  io.out(`${count}, ${certified ? 'no defect' : defects.length === 1 ? '1 defect' : `${defects.length} defects`}\n`);
  reportMissingStore(context);
  return certified ? CERTIFIED : DEFECTS;
}

/** Checks the registry. A named file must exist; the default file in this folder is checked only if it exists. */
function checkRegistry({ hand }: GardenContext, named: string | undefined): readonly Defect[] {
  const filename = resolve(findWorkFolder(), named ?? REGISTRY);
  const read = readCapabilities(hand.disk, filename);
  switch (read.is) {
    case 'absent':
      return named === undefined ? [] : [{ filename, message: 'is not there' }];
    case 'defect':
      return [{ filename, message: read.why }];
    case 'capabilities':
      return findDrift(read.capabilities).map((message) => ({ filename, message }));
  }
}

type AnyObservedMarker = ObservedMarker<Parameters<typeof isMarkerOfRecord>[0]>;

function findImplausible(observed: readonly AnyObservedMarker[]): readonly Defect[] {
  return observed.flatMap(({ filename, marker, owner }) =>
    owner === 'implausible'
      ? [{ filename, message: `its owner is process ${marker.ownerPid}, which owns no session` }]
      : [],
  );
}

function findIdle({ citizens }: GardenView, observed: readonly AnyObservedMarker[]): readonly Defect[] {
  const records = new Map(citizens.map(({ record }) => [record.gardenId, record]));
  return observed.flatMap(({ filename, marker, owner }) => {
    if (owner === 'implausible') return [];
    const ended = owner === 'dead' ? [`its owner, process ${marker.ownerPid}, has ended`] : [];
    const record = records.get(marker.gardenId);
    const other = isMarkerOfRecord(marker, record)
      ? []
      : [record === undefined ? 'its citizen is not here' : 'it is of another session than its record'];
    const message = [...ended, ...other].join('; ');
    return message === '' ? [] : [{ filename, message }];
  });
}

function findNoDrain({ citizens, agents }: GardenView): readonly Defect[] {
  return citizens.flatMap(({ record: { gardenId, backend }, box }) =>
    agents.get(gardenId)?.reasons.includes('no-drain') && box.is === 'box'
      ? [{ filename: gardenId, message: `${box.unread.length} unread in its box, which ${backend} does not read` }]
      : [],
  );
}
