import { join, sep } from 'node:path';
import { type Disk, openLocked, toStem } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import type { GardenPlaces } from '../read/index.ts';
import { resolveRealPath } from './real-path.node.ts';

export type StoreLockResult<T> = { readonly is: 'done'; readonly value: T } | { readonly is: 'held' };

/**
 * Runs `work` while no other process of ours writes records of this store: two upserts of one session at the same time
 * would both find none and make two. The lock is a file of our own, whichever way the store is named; the other program
 * does not know it.
 * @param locks a directory of ours for the locks of all stores, made when it is needed
 * @param waitMs how long to wait for who is at work; `held` after that
 * @throws Fault `garden` when our directory lies in the store, where we make no file that is not the store's
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
