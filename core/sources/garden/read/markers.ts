import { join } from 'node:path';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import { NATIVE_BACKENDS, type NativeBackend } from './backends.ts';
import { describeValue, type GardenFields, parseFields, requireText, requireWord } from './fields.ts';
import { parseGardenId } from './id.ts';
import { listNames, MOST_JSON, readOwners, readSmall } from './small-file.ts';
import type { Defect } from './store.ts';

interface MarkerOwner {
  readonly gardenId: string;
  readonly backend: NativeBackend;
  readonly nativeSessionId: string;
  readonly ownerPid: number;
  /** Distinguishes this process from a later one with the same number; see `start-key.ts`. */
  readonly ownerStartKey: string;
  readonly updatedAt: string;
}

/** A process's statement that it sends as this citizen. */
export interface SenderMarker extends MarkerOwner {
  readonly cwd: string;
}

export const PROVENANCES = ['session-start', 'cwd-changed', 'file-changed'] as const;
export type ArmProvenance = (typeof PROVENANCES)[number];

/** A process's statement that this citizen's mail wakes it. */
export interface ReceiverMarker extends MarkerOwner {
  readonly ownerKind: string;
  readonly armProvenance: ArmProvenance;
}

/** The result of reading a marker. A marker that cannot be trusted counts as missing, with a reason, and never blocks mail. */
export type MarkerRead<M> =
  | { readonly is: 'marker'; readonly marker: M }
  | { readonly is: 'absent' }
  | { readonly is: 'defect'; readonly why: string };

export const toReceiverPath = (receivers: string, gardenId: string): string =>
  join(receivers, `${parseGardenId(gardenId)}.json`);
export const toSenderPath = (senders: string, backend: NativeBackend, pid: number): string =>
  join(senders, backend, `${pid}.json`);

export function parseReceiverMarker(json: string): ReceiverMarker {
  const fields = parseFields(json, 'receiver marker');
  return {
    ...parseMarkerOwner(fields),
    ownerKind: requireText(fields.ownerKind, 'ownerKind'),
    armProvenance: requireWord(fields.armProvenance, PROVENANCES, 'armProvenance'),
  };
}

export function parseSenderMarker(json: string): SenderMarker {
  const fields = parseFields(json, 'sender marker');
  return { ...parseMarkerOwner(fields), cwd: requireText(fields.cwd, 'cwd') };
}

export function readReceiver(disk: Disk, receivers: string, gardenId: string): MarkerRead<ReceiverMarker> {
  return readMarker(disk, receivers, toReceiverPath(receivers, gardenId), parseReceiverMarker);
}

export interface SenderMarkers {
  readonly markers: readonly SenderMarker[];
  /** `filename` is `<backend>/<name>`. */
  readonly errors: readonly Defect[];
}

/** Reads every sender marker of a store. A directory that cannot be read is a defect too, and the others are still read. */
export function readSenders(disk: Disk, senders: string): SenderMarkers {
  const markers: SenderMarker[] = [];
  const errors: Defect[] = [];
  for (const backend of NATIVE_BACKENDS) {
    const directory = join(senders, backend);
    for (const name of listMarkers(disk, directory, backend, errors)) {
      const filename = `${backend}/${name}`;
      const read = readMarker(disk, senders, join(directory, name), parseSenderMarker);
      if (read.is === 'defect') errors.push({ filename, message: read.why });
      if (read.is !== 'marker') continue;
      const { marker } = read;
      if (marker.backend === backend && name === `${marker.ownerPid}.json`) markers.push(marker);
      else errors.push({ filename, message: `is the marker of ${marker.backend}/${marker.ownerPid}, not of its name` });
    }
  }
  return { markers, errors };
}

function listMarkers(disk: Disk, directory: string, filename: string, errors: Defect[]): readonly string[] {
  try {
    return listNames(disk, directory).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    errors.push({ filename, message: error.message });
    return [];
  }
}

function readMarker<M>(disk: Disk, directory: string, path: string, parseMarker: (json: string) => M): MarkerRead<M> {
  try {
    const file = readSmall(disk, path, MOST_JSON, readOwners(disk, directory));
    if (file.is === 'absent') return file;
    if (file.is === 'refused') return { is: 'defect', why: file.why };
    return { is: 'marker', marker: parseMarker(file.text) };
  } catch (error) {
    if (error instanceof Fault) return { is: 'defect', why: error.message };
    throw error;
  }
}

function parseMarkerOwner(fields: GardenFields): MarkerOwner {
  return {
    gardenId: parseGardenId(fields.gardenId),
    backend: requireWord(fields.backend, NATIVE_BACKENDS, 'backend'),
    nativeSessionId: requireText(fields.nativeSessionId, 'nativeSessionId'),
    ownerPid: parsePid(fields.ownerPid),
    ownerStartKey: requireText(fields.ownerStartKey, 'ownerStartKey'),
    updatedAt: requireText(fields.updatedAt, 'updatedAt'),
  };
}

function parsePid(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw createGardenFault(`marker field "ownerPid" must be a whole number (got ${describeValue(value)}).`, 'ownerPid');
}
