import { writeAtomically } from '../../../state/index.ts';
import {
  formatUtc,
  type GardenPlaces,
  isPlausible,
  mergeReceipt,
  NATIVE_BACKENDS,
  PROVENANCES,
  type ProcessReader,
  parseGardenId,
  type Receipt,
  type ReceiverMarker,
  type RecordV1,
  readReceipt,
  requireText,
  requireWord,
  type SenderMarker,
  type Times,
  toReceiptPath,
  toReceiverPath,
  toSenderPath,
} from '../read/index.ts';
import { createGardenFault } from '../settings.ts';
import { formatReceipt, formatReceiverMarker, formatSenderMarker, type WriteContext } from './write-context.ts';

interface MarkerInput {
  readonly gardenId: string;
  readonly backend: string;
  readonly nativeSessionId: string;
  readonly ownerPid: number;
}

/**
 * Input for a receiver marker, which says that a citizen's mail wakes this process. `ownerKind` defaults to `claude-code-cli`.
 */
export interface ReceiverMarkerInput extends MarkerInput {
  readonly armProvenance: string;
  readonly ownerKind?: string | undefined;
}

export interface SenderMarkerInput extends MarkerInput {
  readonly cwd: string;
}

/**
 * Writes the marker of a receiver and replaces the one before it.
 * @returns its path
 * @throws Fault `garden` for a backend without markers, or a process that cannot own a session or is not running
 */
export async function writeReceiver(
  context: WriteContext,
  places: GardenPlaces,
  processes: ProcessReader,
  input: ReceiverMarkerInput,
): Promise<string> {
  const marker: ReceiverMarker = {
    ...(await createMarkerOwner(context, processes, input, 'receiver')),
    ownerKind: requireText(input.ownerKind ?? 'claude-code-cli', 'ownerKind'),
    armProvenance: requireWord(input.armProvenance, PROVENANCES, 'armProvenance'),
  };
  const path = toReceiverPath(places.receivers, marker.gardenId);
  writeAtomically(context.disk, context.random, path, formatReceiverMarker(marker));
  return path;
}

/** Writes the marker of a sender, which is found by its process. Otherwise like `writeReceiver`. */
export async function writeSender(
  context: WriteContext,
  places: GardenPlaces,
  processes: ProcessReader,
  input: SenderMarkerInput,
): Promise<string> {
  const marker: SenderMarker = {
    ...(await createMarkerOwner(context, processes, input, 'sender')),
    cwd: requireText(input.cwd, 'cwd'),
  };
  const path = toSenderPath(places.senders, marker.backend, marker.ownerPid);
  writeAtomically(context.disk, context.random, path, formatSenderMarker(marker));
  return path;
}

async function createMarkerOwner(
  context: WriteContext,
  processes: ProcessReader,
  input: MarkerInput,
  kind: string,
): Promise<Omit<SenderMarker, 'cwd'>> {
  const { ownerPid } = input;
  const gardenId = parseGardenId(input.gardenId);
  const backend = requireWord(input.backend, NATIVE_BACKENDS, 'backend');
  const nativeSessionId = requireText(input.nativeSessionId, 'nativeSessionId');
  const refusing = `refusing to write a ${kind} marker for owner pid ${ownerPid}: `;
  if (ownerPid <= 1) {
    const why = 'a pid <= 1 cannot own a native session (pid 1 is init — a reparented orphan is not an owner).';
    throw createGardenFault(refusing + why, gardenId);
  }
  const state = isPlausible(ownerPid) ? (await processes([ownerPid])).get(ownerPid) : undefined;
  if (state?.is !== 'running') throw createGardenFault(`${refusing}no such process is known to run`, gardenId);
  const updatedAt = formatUtc(context.clock.now());
  return { gardenId, backend, nativeSessionId, ownerPid, ownerStartKey: state.startKey, updatedAt };
}

/**
 * Writes one time of a receipt. Others write receipts as well and nobody locks, so nothing happens between the read and the write
 * (garden contract 3, trap 6).
 * @throws Fault `garden` when the file is no receipt; `unwritable` or `no-space`
 */
export function stampReceipt(
  context: WriteContext,
  places: GardenPlaces,
  gardenId: string,
  field: keyof Times,
  time: string,
): Receipt {
  const receipt = { ...readReceipt(context.disk, places.mailbox, gardenId), [field]: time };
  writeReceipt(context, places, receipt);
  return receipt;
}

/**
 * Copies the mail times of a v1 record into the receipt, where the receipt has none; writes nothing when there is nothing to
 * copy. Call it before the record is rewritten: after a kill in between, both files exist (garden contract 3, trap 2).
 */
export function migrateReceipts(context: WriteContext, places: GardenPlaces, record: RecordV1): void {
  const state = readReceipt(context.disk, places.mailbox, record.gardenId);
  const merged = mergeReceipt(state, record);
  if (formatReceipt(merged) !== formatReceipt(state)) writeReceipt(context, places, merged);
}

function writeReceipt(context: WriteContext, places: GardenPlaces, receipt: Receipt): void {
  writeAtomically(
    context.disk,
    context.random,
    toReceiptPath(places.mailbox, receipt.gardenId),
    formatReceipt(receipt),
  );
}
