import { join } from 'node:path';
import { displayName } from '../../../format/index.ts';
import {
  type Defect,
  findDirectoryDefect,
  findStrays,
  isGardenId,
  isPlausible,
  listRecords,
  NATIVE_BACKENDS,
  type OwnerState,
  readBox,
  readOwners,
  readStat,
} from '../index.ts';
import { formatTable, type GardenContext, printJson } from './garden-context.ts';
import { findMarkers } from './markers.ts';
import { listNames } from './names.ts';
import { countUnread, formatWaiting } from './view.ts';

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
    if (!isPlausible(pid)) return { path, why: 'a temporary file; leave it while anybody writes' };
    const isGone = processes.get(pid)?.is === 'gone';
    return { path, why: isGone ? `left behind by process ${pid}` : `a process ${pid} runs: leave it while it writes` };
  });
}

const ENDED: Readonly<Partial<Record<OwnerState, string>>> = {
  dead: 'a marker whose owner has ended',
  implausible: 'a marker with an owner that owns no session',
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
    errors.map(({ filename, message }) => ({ path: join(directory, filename), why: `no marker: ${message}` }));
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
    return { path: join(places.mailbox, gardenId), why: `a box without a citizen; ${waits}` };
  });
}
