import { join, resolve } from 'node:path';
import type { Clock } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';
import {
  type AgentLiveness,
  judgeLiveness,
  type MarkerRead,
  type ProcessReader,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  type SenderMarker,
  type SenderMarkers,
  toReceiverPath,
} from './agent-liveness.ts';
import { type MetaRecord, NATIVE_BACKENDS } from './record.ts';
import { COARSE_MS, isStampProof, toStamp } from './records.ts';
import type { SocketListener } from './socket.node.ts';
import type { Defect } from './store.ts';

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
        if (stat !== null && !isStampProof(stat, at)) return null;
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

/** How the machine is asked which agents are alive. */
export interface LivenessProbes {
  readonly readProcesses: ProcessReader;
  readonly probeListener: (path: string, withinMs: number) => Promise<SocketListener>;
}

export interface StoreLiveness {
  /** By garden id, one per record. */
  readonly agents: ReadonlyMap<string, AgentLiveness>;
  /** Marker files that are not valid. `filename` is relative to the directory of their kind. */
  readonly errors: readonly Defect[];
}

const STORE_SOCKET_MS = 1000;

/**
 * Finds out which of these citizens are alive. Reads markers and asks processes and sockets; changes nothing.
 * @param unread how many messages wait, by garden id
 */
export async function readStoreLiveness(
  disk: Disk,
  places: GardenPlaces,
  probes: LivenessProbes,
  records: readonly MetaRecord[],
  unread: ReadonlyMap<string, number>,
): Promise<StoreLiveness> {
  const senders = readSenders(disk, places.senders);
  const errors: Defect[] = [...senders.errors];
  const named = records.map((record) => {
    const receiver = readReceiver(disk, places.receivers, record.gardenId);
    if (receiver.is === 'defect') errors.push({ filename: `${record.gardenId}.json`, message: receiver.why });
    return { record, receiver, senders: senders.markers.filter(({ gardenId }) => gardenId === record.gardenId) };
  });
  const pids = named.flatMap(({ receiver, senders: own }) => [
    ...(receiver.is === 'marker' ? [receiver.marker.ownerPid] : []),
    ...own.map(({ ownerPid }) => ownerPid),
  ]);
  const processes = await probes.readProcesses(pids);
  const agents = await Promise.all(
    named.map(async ({ record, ...markers }) => {
      const socket = join(places.sockets, `${record.gardenId}.sock`);
      const listener = record.backend === 'pi' ? await probes.probeListener(socket, STORE_SOCKET_MS) : null;
      const signs = { ...markers, processes, listener, unread: unread.get(record.gardenId) ?? 0 };
      return [record.gardenId, judgeLiveness(record, signs)] as const;
    }),
  );
  return { agents: new Map(agents), errors };
}

/** The directories of a garden store. All paths are absolute. */
export interface GardenPlaces {
  readonly sessions: string;
  readonly mailbox: string;
  readonly senders: string;
  readonly receivers: string;
  /** Only for pi: the control sockets `<gid>.sock`. */
  readonly sockets: string;
}

export interface GardenPlacesOptions {
  /** The agent directory, when a person named it. Then the environment does not move what lies below it. */
  readonly store?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** Both generations use the same variable names except for the prefix; the newer prefix wins. */
const PREFIXES = ['ENTWURF', 'PI'] as const;

/**
 * The directories of a store. Each comes from its own override, otherwise it is below the agent directory, otherwise below
 * `~/.pi/agent` (garden contract 1). An empty variable does not count; `~` and `~/...` mean the home directory.
 */
export function computeGardenPlaces({ store, env, home, cwd }: GardenPlacesOptions): GardenPlaces {
  const toAbsolute = (path: string): string => resolve(cwd, expandHome(path, home));
  const agent = toAbsolute(store || env.PI_CODING_AGENT_DIR || '~/.pi/agent');
  const resolvePlace = (name: 'sessions' | 'mailbox' | 'senders' | 'receivers'): string => {
    const own = PREFIXES.map((prefix) => env[`${prefix}_META_${name.toUpperCase()}_DIR`]).find(Boolean);
    return own === undefined || store ? join(agent, `meta-${name}`) : toAbsolute(own);
  };
  return {
    sessions: resolvePlace('sessions'),
    mailbox: resolvePlace('mailbox'),
    senders: resolvePlace('senders'),
    receivers: resolvePlace('receivers'),
    sockets: toAbsolute(env.ENTWURF_DIR || '~/.pi/entwurf-control'),
  };
}

/** `~name` stays as it is, because it is the name of a file. */
function expandHome(path: string, home: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice('~/'.length)) : path;
}
