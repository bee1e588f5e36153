import { basename, join, resolve } from 'node:path';
import { displayName } from '../../../format/index.ts';
import { Fault } from '../../../model/index.ts';
import { findWorkFolder } from '../../../state/index.ts';
import {
  type Defect,
  findDirectoryDefect,
  findDrift,
  findMixedGenerations,
  findStrays,
  isGardenId,
  isPlausible,
  listRecords,
  NATIVE_BACKENDS,
  type OwnerState,
  readBox,
  readCapabilities,
  readOwners,
  readStat,
} from '../index.ts';
import type { GardenArgs } from './args.ts';
import { formatTable, type GardenContext, prefixDefects, printJson, reportMissingStore } from './garden-context.ts';
import { findMarkers, isMarkerOfRecord, listNames, type Markers, type ObservedMarker } from './markers.ts';
import { countUnread, formatWaiting, type GardenView, loadView } from './record.ts';

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
      return named === undefined ? [] : [{ filename, message: 'does not exist' }];
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
      ? [{ filename, message: `its owner is process ${marker.ownerPid}, which cannot own a session` }]
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
      : [record === undefined ? 'its citizen does not exist' : 'it belongs to another session than its record'];
    const message = [...ended, ...other].join('; ');
    return message === '' ? [] : [{ filename, message }];
  });
}

function findNoDrain({ citizens, agents }: GardenView): readonly Defect[] {
  return citizens.flatMap(({ record: { gardenId, backend }, box }) =>
    agents.get(gardenId)?.reasons.includes('no-drain') && box.is === 'box'
      ? [{ filename: gardenId, message: `${box.unread.length} unread in its mailbox, which ${backend} does not read` }]
      : [],
  );
}

/** `<final>.tmp-<pid>-<ms>` for records and receipts, `<final>.<hex>.tmp` for all other files (garden contract 2). */
const TEMP = /\.tmp(?:-(\d+)-\d+)?$/;

interface Prunable {
  readonly path: string;
  readonly why: string;
}

/** Prints what a person may delete by hand, and why. It deletes nothing. */
export async function listPrunable(context: GardenContext): Promise<number> {
  const { io } = context;
  const prunable = [
    ...(await findTemps(context)),
    ...(await findPrunableMarkers(context)),
    ...findPrunableBoxes(context),
  ];
  if (context.asJson) {
    printJson(context, { prunable });
    return 0;
  }
  if (prunable.length > 0) io.out(formatTable(prunable.map(({ path, why }) => [displayName(path), displayName(why)])));
  io.out(prunable.length === 0 ? 'nothing to prune\n' : 'nothing was deleted: this is a list\n');
  return 0;
}

async function findTemps({ places, hand, asks }: GardenContext): Promise<readonly Prunable[]> {
  const { sessions, mailbox, senders, receivers } = places;
  const boxes = listNames(hand.disk, mailbox)
    .filter(isGardenId)
    .map((name) => join(mailbox, name));
  const real = boxes.filter((path) => {
    const stat = readStat(hand.disk, path);
    return stat !== null && findDirectoryDefect(stat, readOwners(hand.disk, mailbox)) === null;
  });
  const directories = [sessions, ...real, ...NATIVE_BACKENDS.map((backend) => join(senders, backend)), receivers];
  const tempFiles = directories.flatMap((directory) =>
    listNames(hand.disk, directory).flatMap((name) => {
      const temp = TEMP.exec(name);
      return temp === null ? [] : [{ path: join(directory, name), pid: Number(temp[1] ?? 0) }];
    }),
  );
  const processes = await asks.readProcesses(tempFiles.map(({ pid }) => pid));
  return tempFiles.map(({ path, pid }) => {
    if (!isPlausible(pid)) return { path, why: 'a temporary file: keep it while a program writes to the store' };
    const isGone = processes.get(pid)?.is === 'gone';
    return {
      path,
      why: isGone ? `left behind by process ${pid}` : `process ${pid} still runs: keep this file while it writes`,
    };
  });
}

const ENDED: Readonly<Partial<Record<OwnerState, string>>> = {
  dead: 'a marker whose owner has ended',
  implausible: 'a marker whose owner cannot own a session',
};

async function findPrunableMarkers(context: GardenContext): Promise<readonly Prunable[]> {
  const { places } = context;
  const { receivers, senders, receiverErrors, senderErrors } = await findMarkers(context);
  const listOwned = (directory: string, observed: typeof receivers | typeof senders): readonly Prunable[] =>
    observed.flatMap(({ filename, owner }) => {
      const why = ENDED[owner];
      return why === undefined ? [] : [{ path: join(directory, filename), why }];
    });
  const listSpoilt = (directory: string, errors: readonly Defect[]): readonly Prunable[] =>
    errors.map(({ filename, message }) => ({ path: join(directory, filename), why: `not a marker: ${message}` }));
  return [
    ...[...listOwned(places.receivers, receivers), ...listSpoilt(places.receivers, receiverErrors)],
    ...[...listOwned(places.senders, senders), ...listSpoilt(places.senders, senderErrors)],
  ];
}

/**
 * Finds boxes without a citizen. A box whose record is a defect is left out: it has a citizen again once the record is
 * repaired.
 */
function findPrunableBoxes({ places, hand }: GardenContext): readonly Prunable[] {
  const { records, errors } = listRecords(hand.disk, places.sessions);
  const named = [
    ...records.map(({ gardenId }) => gardenId),
    ...errors.map(({ filename }) => filename.slice(0, -'.meta.json'.length)),
  ];
  return findStrays(hand.disk, places.mailbox, new Set(named)).boxes.map((gardenId) => {
    const box = readBox(hand.disk, places.mailbox, gardenId);
    const waits = box.is === 'refused' ? box.why : formatWaiting(countUnread(box) ?? 0);
    return { path: join(places.mailbox, gardenId), why: `a mailbox without a citizen; ${waits}` };
  });
}
