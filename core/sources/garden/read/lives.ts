import { join } from 'node:path';
import type { Clock } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';
import { type Agent, agentOf } from './agent.ts';
import type { Asks } from './agents.ts';
import { NATIVE_BACKENDS } from './backends.ts';
import {
  type MarkerRead,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  receiverFile,
  type SenderMarker,
  type Senders,
} from './markers.ts';
import type { Places } from './places.ts';
import type { MetaRecord } from './record.ts';
import { COARSE_MS, isSettled, stampOf } from './stamp.ts';
import type { Defect } from './store.ts';

/** Whether the agents of a store live; of their markers only those that changed are read again. */
export interface Lives {
  /** The system is asked each time: a process ends without a word. @param unread how many messages wait */
  of(record: MetaRecord, unread: number): Promise<Life>;
  /** Sender markers that are none. */
  senderErrors(): readonly Defect[];
  forget(gardenId: string): void;
}

export interface Life {
  readonly agent: Agent;
  /** Its receiver marker, when it is none. */
  readonly errors: readonly Defect[];
}

interface Kept {
  /** Null: it may change without another one. */
  readonly stamp: string | null;
  readonly read: MarkerRead<ReceiverMarker>;
}

/** Within one machine an answer comes at once, or the one who should give it hangs. */
const SOCKET_MS = 200;
const NOBODY: readonly SenderMarker[] = [];

export function keepLives(disk: Disk, places: Places, asks: Asks, clock: Clock): Lives {
  const receivers = new Map<string, Kept>();
  let senders: {
    readonly stamp: string | null;
    readonly read: Senders;
    readonly of: Map<string, SenderMarker[]>;
  } | null = null;

  function receiverOf(gardenId: string): MarkerRead<ReceiverMarker> {
    const stamp = fileStamp(receiverFile(places.receivers, gardenId));
    const known = receivers.get(gardenId);
    if (known !== undefined && known.stamp !== null && known.stamp === stamp) return known.read;
    const read = readReceiver(disk, places.receivers, gardenId);
    receivers.set(gardenId, { stamp, read });
    return read;
  }

  /** '' for what is not there; null for what changed just now, or can not be looked at. */
  function fileStamp(path: string): string | null {
    try {
      const stat = disk.files.lstat(path);
      if (stat === null) return '';
      return stat.ctimeMs < clock.now() - COARSE_MS ? stampOf(stat) : null;
    } catch {
      return null; // whoever reads it says why
    }
  }

  function sendersNow(): NonNullable<typeof senders> {
    const stamp = sendersStamp();
    if (senders !== null && senders.stamp !== null && senders.stamp === stamp) return senders;
    const read = readSenders(disk, places.senders);
    senders = { stamp, read, of: Map.groupBy(read.markers, ({ gardenId }) => gardenId) };
    return senders;
  }

  function sendersStamp(): string | null {
    const at = clock.now();
    const stamps: string[] = [];
    for (const backend of NATIVE_BACKENDS) {
      try {
        const stat = disk.files.lstat(join(places.senders, backend));
        if (stat !== null && !isSettled(stat, at)) return null;
        stamps.push(stat === null ? '' : stampOf(stat));
      } catch {
        return null; // likewise
      }
    }
    return stamps.join(' ');
  }

  return {
    async of(record, unread) {
      const { gardenId, backend } = record;
      const receiver = receiverOf(gardenId);
      const named = backend === 'antigravity' ? (sendersNow().of.get(gardenId) ?? NOBODY) : NOBODY;
      const pids = named.map(({ ownerPid }) => ownerPid);
      if (receiver.is === 'marker' && backend === 'claude-code') pids.push(receiver.marker.ownerPid);
      const processes = pids.length === 0 ? new Map() : await asks.processes(pids);
      const socket = join(places.sockets, `${gardenId}.sock`);
      const listener = backend === 'pi' ? await asks.listenerAt(socket, SOCKET_MS) : null;
      const agent = agentOf(record, { receiver, senders: named, processes, listener, unread });
      const errors = receiver.is === 'defect' ? [{ filename: `${gardenId}.json`, message: receiver.why }] : [];
      return { agent, errors };
    },
    senderErrors: () => sendersNow().read.errors,
    forget: (gardenId) => void receivers.delete(gardenId),
  };
}
