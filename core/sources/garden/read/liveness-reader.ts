import { join } from 'node:path';
import type { Clock } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';
import { type AgentLiveness, judgeLiveness } from './agent-liveness.ts';
import { NATIVE_BACKENDS } from './backends.ts';
import {
  type MarkerRead,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  type SenderMarker,
  type SenderMarkers,
  toReceiverPath,
} from './markers.ts';
import type { GardenPlaces } from './places.ts';
import type { MetaRecord } from './record.ts';
import { COARSE_MS, isSettled, toStamp } from './stamp.ts';
import type { Defect } from './store.ts';
import type { LivenessProbes } from './store-liveness.ts';

/** Reads whether the agents of a store are alive. Only markers that changed are read again. */
export interface LivenessReader {
  /** Asks the system each time, because a process ends without notice. @param unread how many messages wait */
  read(record: MetaRecord, unread: number): Promise<LivenessResult>;
  /** Sender marker files that are not valid. */
  senderErrors(): readonly Defect[];
  forget(gardenId: string): void;
}

export interface LivenessResult {
  readonly agent: AgentLiveness;
  /** The problem with its receiver marker, when the file is not valid. */
  readonly errors: readonly Defect[];
}

interface CachedMarker {
  /** Null when the file may change without getting another stamp. */
  readonly stamp: string | null;
  readonly read: MarkerRead<ReceiverMarker>;
}

/** Within one machine an answer comes at once; a process that takes longer hangs. */
const SOCKET_MS = 200;
const NOBODY: readonly SenderMarker[] = [];

export function createLivenessReader(
  disk: Disk,
  places: GardenPlaces,
  probes: LivenessProbes,
  clock: Clock,
): LivenessReader {
  const receivers = new Map<string, CachedMarker>();
  let senders: {
    readonly stamp: string | null;
    readonly read: SenderMarkers;
    readonly of: Map<string, SenderMarker[]>;
  } | null = null;

  function getReceiver(gardenId: string): MarkerRead<ReceiverMarker> {
    const stamp = readFileStamp(toReceiverPath(places.receivers, gardenId));
    const known = receivers.get(gardenId);
    if (known !== undefined && known.stamp !== null && known.stamp === stamp) return known.read;
    const read = readReceiver(disk, places.receivers, gardenId);
    receivers.set(gardenId, { stamp, read });
    return read;
  }

  /** '' when the file does not exist; null when it changed just now, or cannot be checked. */
  function readFileStamp(path: string): string | null {
    try {
      const stat = disk.files.lstat(path);
      if (stat === null) return '';
      return stat.ctimeMs < clock.now() - COARSE_MS ? toStamp(stat) : null;
    } catch {
      return null; // the reader of the file says why
    }
  }

  function refreshSenders(): NonNullable<typeof senders> {
    const stamp = readSendersStamp();
    if (senders !== null && senders.stamp !== null && senders.stamp === stamp) return senders;
    const read = readSenders(disk, places.senders);
    senders = { stamp, read, of: Map.groupBy(read.markers, ({ gardenId }) => gardenId) };
    return senders;
  }

  function readSendersStamp(): string | null {
    const at = clock.now();
    const stamps: string[] = [];
    for (const backend of NATIVE_BACKENDS) {
      try {
        const stat = disk.files.lstat(join(places.senders, backend));
        if (stat !== null && !isSettled(stat, at)) return null;
        stamps.push(stat === null ? '' : toStamp(stat));
      } catch {
        return null; // the reader of the directory says why
      }
    }
    return stamps.join(' ');
  }

  return {
    async read(record, unread) {
      const { gardenId, backend } = record;
      const receiver = getReceiver(gardenId);
      const named = backend === 'antigravity' ? (refreshSenders().of.get(gardenId) ?? NOBODY) : NOBODY;
      const pids = named.map(({ ownerPid }) => ownerPid);
      if (receiver.is === 'marker' && backend === 'claude-code') pids.push(receiver.marker.ownerPid);
      const processes = pids.length === 0 ? new Map() : await probes.readProcesses(pids);
      const socket = join(places.sockets, `${gardenId}.sock`);
      const listener = backend === 'pi' ? await probes.probeListener(socket, SOCKET_MS) : null;
      const agent = judgeLiveness(record, { receiver, senders: named, processes, listener, unread });
      const errors = receiver.is === 'defect' ? [{ filename: `${gardenId}.json`, message: receiver.why }] : [];
      return { agent, errors };
    },
    senderErrors: () => refreshSenders().read.errors,
    forget: (gardenId) => void receivers.delete(gardenId),
  };
}
