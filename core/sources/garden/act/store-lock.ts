import { join, sep } from 'node:path';
import { type Disk, openLocked, toStem } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import type { GardenPlaces } from '../read/index.ts';
import { resolveRealPath } from './real-path.node.ts';

export type StoreLockResult<T> = { readonly is: 'done'; readonly value: T } | { readonly is: 'held' };

/**
 * Runs `work` while no other process of ours writes records of this store: two simultaneous upserts of one session would both
 * find no record and create two. The lock is a file of our own, the same for every path that leads to the store; the other
 * program does not know it.
 * @param locks a directory of ours for the locks of all stores, created when needed
 * @param waitMs how long to wait for another process; after that the result is `held`
 * @throws Fault `garden` when our directory is inside the store, in which we create only the store's own files
 */
export function runLocked<T>(
  disk: Disk,
  locks: string,
  places: GardenPlaces,
  waitMs: number,
  work: () => T,
): StoreLockResult<T> {
  const own = resolveRealPath(locks);
  const { sessions, mailbox, senders, receivers } = places;
  for (const directory of [sessions, mailbox, senders, receivers]) {
    if (!isWithin(own, resolveRealPath(directory))) continue;
    throw createGardenFault(`${locks} is in ${directory}: give HIVEBAR_HOME another place`, directory);
  }
  const locked = openLocked(disk, join(own, `${toStem(resolveRealPath(sessions))}.lock`), 'create', waitMs);
  if (locked.is !== 'got') return { is: 'held' };
  using _held = locked.file;
  return { is: 'done', value: work() };
}

function isWithin(path: string, directory: string): boolean {
  return `${path}${sep}`.startsWith(`${directory}${sep}`);
}
