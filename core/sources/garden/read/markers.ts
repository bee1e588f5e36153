import { join } from 'node:path';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { gardenFault } from '../fault.ts';
import { NATIVE_BACKENDS, type NativeBackend } from './backends.ts';
import { described, type Fields, fieldsOf, textIn, wordIn } from './fields.ts';
import { gardenIdOf } from './id.ts';
import { MOST_JSON, namesIn, ownersOf, readSmall } from './small-file.ts';
import type { Defect } from './store.ts';

interface Owned {
  readonly gardenId: string;
  readonly backend: NativeBackend;
  readonly nativeSessionId: string;
  readonly ownerPid: number;
  /** What tells this process from a later one with its number: see `start-key.ts`. */
  readonly ownerStartKey: string;
  readonly updatedAt: string;
}

/** A process says that it sends as this citizen. */
export interface SenderMarker extends Owned {
  readonly cwd: string;
}

export const PROVENANCES = ['session-start', 'cwd-changed', 'file-changed'] as const;
export type Provenance = (typeof PROVENANCES)[number];

/** A process says that it is woken by this citizen's mail. */
export interface ReceiverMarker extends Owned {
  readonly ownerKind: string;
  readonly armProvenance: Provenance;
}

/** A marker nobody can trust is none, with a reason: it never stands in the way of mail. */
export type MarkerRead<M> =
  | { readonly is: 'marker'; readonly marker: M }
  | { readonly is: 'absent' }
  | { readonly is: 'defect'; readonly why: string };

export const receiverFile = (receivers: string, gardenId: string): string =>
  join(receivers, `${gardenIdOf(gardenId)}.json`);
export const senderFile = (senders: string, backend: NativeBackend, pid: number): string =>
  join(senders, backend, `${pid}.json`);

export function receiverMarkerOf(json: string): ReceiverMarker {
  const fields = fieldsOf(json, 'receiver marker');
  return {
    ...ownedIn(fields),
    ownerKind: textIn(fields.ownerKind, 'ownerKind'),
    armProvenance: wordIn(fields.armProvenance, PROVENANCES, 'armProvenance'),
  };
}

export function senderMarkerOf(json: string): SenderMarker {
  const fields = fieldsOf(json, 'sender marker');
  return { ...ownedIn(fields), cwd: textIn(fields.cwd, 'cwd') };
}

export function readReceiver(disk: Disk, receivers: string, gardenId: string): MarkerRead<ReceiverMarker> {
  return markerAt(disk, receivers, receiverFile(receivers, gardenId), receiverMarkerOf);
}

export interface Senders {
  readonly markers: readonly SenderMarker[];
  /** `filename` is `<backend>/<name>`. */
  readonly errors: readonly Defect[];
}

/** Every sender marker of a store. A directory that can not be read is a defect as well, and the others are read. */
export function readSenders(disk: Disk, senders: string): Senders {
  const markers: SenderMarker[] = [];
  const errors: Defect[] = [];
  for (const backend of NATIVE_BACKENDS) {
    const directory = join(senders, backend);
    for (const name of markersIn(disk, directory, backend, errors)) {
      const filename = `${backend}/${name}`;
      const read = markerAt(disk, senders, join(directory, name), senderMarkerOf);
      if (read.is === 'defect') errors.push({ filename, message: read.why });
      if (read.is !== 'marker') continue;
      const { marker } = read;
      if (marker.backend === backend && name === `${marker.ownerPid}.json`) markers.push(marker);
      else errors.push({ filename, message: `is the marker of ${marker.backend}/${marker.ownerPid}, not of its name` });
    }
  }
  return { markers, errors };
}

function markersIn(disk: Disk, directory: string, filename: string, errors: Defect[]): readonly string[] {
  try {
    return namesIn(disk, directory).filter((one) => one.endsWith('.json'));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    errors.push({ filename, message: error.message });
    return [];
  }
}

function markerAt<M>(disk: Disk, directory: string, path: string, markerOf: (json: string) => M): MarkerRead<M> {
  try {
    const file = readSmall(disk, path, MOST_JSON, ownersOf(disk, directory));
    if (file.is === 'absent') return file;
    if (file.is === 'refused') return { is: 'defect', why: file.why };
    return { is: 'marker', marker: markerOf(file.text) };
  } catch (error) {
    if (error instanceof Fault) return { is: 'defect', why: error.message };
    throw error;
  }
}

function ownedIn(fields: Fields): Owned {
  return {
    gardenId: gardenIdOf(fields.gardenId),
    backend: wordIn(fields.backend, NATIVE_BACKENDS, 'backend'),
    nativeSessionId: textIn(fields.nativeSessionId, 'nativeSessionId'),
    ownerPid: pidIn(fields.ownerPid),
    ownerStartKey: textIn(fields.ownerStartKey, 'ownerStartKey'),
    updatedAt: textIn(fields.updatedAt, 'updatedAt'),
  };
}

function pidIn(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw gardenFault(`marker field "ownerPid" must be a whole number (got ${described(value)}).`, 'ownerPid');
}
