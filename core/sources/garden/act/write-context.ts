import { join, sep } from 'node:path';
import type { Instant } from '../../../model/index.ts';
import type { Clock, Random } from '../../../ports/index.ts';
import { type Disk, openLocked, toStem } from '../../../state/index.ts';
import {
  type CitizenIdentity,
  type GardenPlaces,
  KEYS_V2,
  KEYS_V3,
  RECEIPT_KEYS,
  type Receipt,
  type ReceiverMarker,
  type SenderMarker,
} from '../read/index.ts';
import { createGardenFault } from '../settings.ts';
import { resolveRealPath } from './local-system.node.ts';

/** What writing into a store needs from the machine. */
export interface WriteContext {
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Formats the local time of this machine, with which a garden id begins: `20260614T100037`. */
  readonly formatLocalStamp: (at: Instant) => string;
}

const OWNER_KEYS = ['ownerPid', 'ownerStartKey'] as const;
const SENDER_KEYS = ['backend', 'gardenId', 'nativeSessionId', 'cwd', ...OWNER_KEYS, 'updatedAt'] as const;
const RECEIVER_KEYS = [
  ...(['gardenId', 'backend', 'nativeSessionId', ...OWNER_KEYS] as const),
  ...(['ownerKind', 'armProvenance', 'updatedAt'] as const),
] as const;

/** The text of a record, exactly as both generations of the library write it (garden contract 2). */
export function formatRecord(identity: CitizenIdentity): string {
  return identity.schemaVersion === 2 ? formatFields(identity, KEYS_V2) : formatFields(identity, KEYS_V3);
}

export function formatReceipt(receipt: Receipt): string {
  return formatFields(receipt, RECEIPT_KEYS);
}

export function formatSenderMarker(marker: SenderMarker): string {
  return formatFields(marker, SENDER_KEYS);
}

export function formatReceiverMarker(marker: ReceiverMarker): string {
  return formatFields(marker, RECEIVER_KEYS);
}

/** Always these keys in this order, indented by two spaces, with one newline at the end. */
function formatFields<K extends string>(value: Readonly<Record<K, unknown>>, keys: readonly K[]): string {
  return `${JSON.stringify(Object.fromEntries(keys.map((key) => [key, value[key]])), null, 2)}\n`;
}

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
