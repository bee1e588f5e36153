import { basename, resolve } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import { type Defect, driftIn, findMixedGenerations, readCapabilities } from '../../../core/sources/garden/index.ts';
import { printable } from '../../printable.ts';
import { surroundings } from '../session-surroundings.node.ts';
import type { GardenArgs } from './args.ts';
import { below, type Ground, sayIfNowhere, sayJson } from './ground.ts';
import { isOf, type Markers, markersIn, type Seen } from './markers.ts';
import { type View, viewOf } from './view.ts';

const CERTIFIED = 0;
const DEFECTS = 1;
const UNREADABLE = 3;

/** Where a checkout of the other program has its registry. */
const REGISTRY = 'pi/entwurf-capabilities.json';

/** Whether a store is in order. Nothing is changed. */
export async function examine({ flags }: GardenArgs, ground: Ground): Promise<number> {
  try {
    return report(ground, await viewOf(ground), await markersIn(ground), registry(ground, flags.capabilities));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'unreadable') throw error;
    if (ground.asJson) sayJson(ground, { certified: false, unreadable: error.message, defects: [], notes: [] });
    ground.io.err(`hivebar garden: ${printable(error.explain())}\n`);
    return UNREADABLE;
  }
}

function report(ground: Ground, view: View, markers: Markers, ofRegistry: readonly Defect[]): number {
  const { io, places } = ground;
  const known = new Set(view.defects.map(({ filename }) => filename));
  const ofMarkers = [
    ...below(places.receivers, [...markers.receiverErrors, ...implausible(markers.receivers)]),
    ...below(places.senders, [...markers.senderErrors, ...implausible(markers.senders)]),
  ].filter(({ filename }) => !known.has(filename));
  const mixed = findMixedGenerations(view.citizens.map(({ record }) => record));
  const ofStore = mixed === null ? [] : [{ ...mixed, filename: basename(places.sessions) }];
  const defects = [...ofStore, ...view.defects, ...ofMarkers, ...ofRegistry];
  const notes = [
    ...view.strays,
    ...below(places.mailbox, noDrain(view)),
    ...below(places.receivers, idle(view, markers.receivers)),
    ...below(places.senders, idle(view, markers.senders)),
  ];
  const certified = defects.length === 0;
  if (ground.asJson) {
    sayJson(ground, { certified, citizens: view.citizens.length, defects, notes });
    return certified ? CERTIFIED : DEFECTS;
  }
  const lines = (word: string, found: readonly Defect[]): void => {
    for (const { filename, message } of found) io.out(`${word}  ${printable(`${filename}: ${message}`)}\n`);
  };
  lines('defect', defects);
  lines('note  ', notes);
  const count = `${view.citizens.length} ${view.citizens.length === 1 ? 'citizen' : 'citizens'}`;
  io.out(`${count}, ${certified ? 'no defect' : defects.length === 1 ? '1 defect' : `${defects.length} defects`}\n`);
  sayIfNowhere(ground);
  return certified ? CERTIFIED : DEFECTS;
}

/** The registry that is named must be there; one in this folder is looked at when it is. */
function registry({ hand }: Ground, named: string | undefined): readonly Defect[] {
  const filename = resolve(surroundings().cwd, named ?? REGISTRY);
  const read = readCapabilities(hand.disk, filename);
  switch (read.is) {
    case 'absent':
      return named === undefined ? [] : [{ filename, message: 'is not there' }];
    case 'defect':
      return [{ filename, message: read.why }];
    case 'capabilities':
      return driftIn(read.capabilities).map((message) => ({ filename, message }));
  }
}

type AnySeen = Seen<Parameters<typeof isOf>[0]>;

function implausible(seen: readonly AnySeen[]): readonly Defect[] {
  return seen.flatMap(({ filename, marker, owner }) =>
    owner === 'implausible'
      ? [{ filename, message: `its owner is process ${marker.ownerPid}, which owns no session` }]
      : [],
  );
}

function idle({ citizens }: View, seen: readonly AnySeen[]): readonly Defect[] {
  const records = new Map(citizens.map(({ record }) => [record.gardenId, record]));
  return seen.flatMap(({ filename, marker, owner }) => {
    if (owner === 'implausible') return [];
    const ended = owner === 'dead' ? [`its owner, process ${marker.ownerPid}, has ended`] : [];
    const record = records.get(marker.gardenId);
    const other = isOf(marker, record)
      ? []
      : [record === undefined ? 'its citizen is not here' : 'it is of another session than its record'];
    const message = [...ended, ...other].join('; ');
    return message === '' ? [] : [{ filename, message }];
  });
}

function noDrain({ citizens, agents }: View): readonly Defect[] {
  return citizens.flatMap(({ record: { gardenId, backend }, box }) =>
    agents.get(gardenId)?.reasons.includes('no-drain') && box.is === 'box'
      ? [{ filename: gardenId, message: `${box.unread.length} unread in its box, which ${backend} does not read` }]
      : [],
  );
}
