import { join } from 'node:path';
import {
  closedBy,
  type Defect,
  isGardenId,
  isPlausible,
  listRecords,
  lookInBox,
  NATIVE_BACKENDS,
  type Owner,
  ownersOf,
  statOf,
  straysIn,
} from '../../../core/sources/garden/index.ts';
import { printable } from '../../printable.ts';
import { aligned, type Ground, sayJson } from './ground.ts';
import { markersIn } from './markers.ts';
import { namesIn } from './names.ts';
import { unreadIn, waiting } from './view.ts';

/** `<final>.tmp-<pid>-<ms>` of records and receipts, `<final>.<hex>.tmp` of all else (garden contract 2). */
const TEMP = /\.tmp(?:-(\d+)-\d+)?$/;

interface Prunable {
  readonly path: string;
  readonly why: string;
}

/** What a person may delete by hand, and why. Nothing is deleted. */
export async function listPrunable(ground: Ground): Promise<number> {
  const { io } = ground;
  const prunable = [...(await temps(ground)), ...(await markers(ground)), ...boxes(ground)];
  if (ground.asJson) {
    sayJson(ground, { prunable });
    return 0;
  }
  if (prunable.length > 0) io.out(aligned(prunable.map(({ path, why }) => [printable(path), printable(why)])));
  io.out(prunable.length === 0 ? 'nothing to prune\n' : 'nothing was deleted: this is a list\n');
  return 0;
}

async function temps({ places, hand, asks }: Ground): Promise<readonly Prunable[]> {
  const { sessions, mailbox, senders, receivers } = places;
  const boxes = namesIn(hand.disk, mailbox)
    .filter(isGardenId)
    .map((name) => join(mailbox, name));
  const real = boxes.filter((path) => {
    const there = statOf(hand.disk, path);
    return there !== null && closedBy(there, ownersOf(hand.disk, mailbox)) === null;
  });
  const directories = [sessions, ...real, ...NATIVE_BACKENDS.map((backend) => join(senders, backend)), receivers];
  const found = directories.flatMap((directory) =>
    namesIn(hand.disk, directory).flatMap((name) => {
      const temp = TEMP.exec(name);
      return temp === null ? [] : [{ path: join(directory, name), pid: Number(temp[1] ?? 0) }];
    }),
  );
  const processes = await asks.processes(found.map(({ pid }) => pid));
  return found.map(({ path, pid }) => {
    if (!isPlausible(pid)) return { path, why: 'a temporary file; leave it while anybody writes' };
    const isGone = processes.get(pid)?.is === 'gone';
    return { path, why: isGone ? `left behind by process ${pid}` : `a process ${pid} runs: leave it while it writes` };
  });
}

const ENDED: Readonly<Partial<Record<Owner, string>>> = {
  dead: 'a marker whose owner has ended',
  implausible: 'a marker with an owner that owns no session',
};

async function markers(ground: Ground): Promise<readonly Prunable[]> {
  const { places } = ground;
  const { receivers, senders, receiverErrors, senderErrors } = await markersIn(ground);
  const owned = (directory: string, seen: typeof receivers | typeof senders): readonly Prunable[] =>
    seen.flatMap(({ filename, owner }) => {
      const why = ENDED[owner];
      return why === undefined ? [] : [{ path: join(directory, filename), why }];
    });
  const spoilt = (directory: string, errors: readonly Defect[]): readonly Prunable[] =>
    errors.map(({ filename, message }) => ({ path: join(directory, filename), why: `no marker: ${message}` }));
  return [
    ...[...owned(places.receivers, receivers), ...spoilt(places.receivers, receiverErrors)],
    ...[...owned(places.senders, senders), ...spoilt(places.senders, senderErrors)],
  ];
}

/** Boxes of nobody. Those of a record that is a defect are somebody's once it is mended. */
function boxes({ places, hand }: Ground): readonly Prunable[] {
  const { records, errors } = listRecords(hand.disk, places.sessions);
  const named = [
    ...records.map(({ gardenId }) => gardenId),
    ...errors.map(({ filename }) => filename.slice(0, -'.meta.json'.length)),
  ];
  return straysIn(hand.disk, places.mailbox, new Set(named)).boxes.map((gardenId) => {
    const box = lookInBox(hand.disk, places.mailbox, gardenId);
    const waits = box.is === 'refused' ? box.why : waiting(unreadIn(box) ?? 0);
    return { path: join(places.mailbox, gardenId), why: `a box without a citizen; ${waits}` };
  });
}
