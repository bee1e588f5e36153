import { join, resolve } from 'node:path';
import type { Clock, Stat } from '../../../ports/index.ts';
import { type Disk, getErrno } from '../../../state/index.ts';
import {
  type AgentLiveness,
  judgeLiveness,
  type MarkerRead,
  type ProcessReader,
  type ProcessState,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  type SenderMarker,
  type SenderMarkers,
  toReceiverPath,
} from './agent-liveness.ts';
import { type MetaRecord, NATIVE_BACKENDS } from './record.ts';
import { COARSE_MS, isSameDirectory, isSameStamp, isStampProof, type StatStamp, toStamp } from './records.ts';
import type { SocketListener } from './socket.node.ts';
import type { Defect } from './store.ts';

/** Reads whether the agents of a store are alive. Only markers that changed are read again. */
export interface LivenessReader {
  /** Asks the system each time, because a process ends without notice. */
  read(citizen: CountedCitizen): Promise<LivenessResult>;
  /** Does the same for many citizens, with one question for all processes, and returns the judgements in the same order. */
  judgeAll(citizens: readonly CountedCitizen[]): Promise<readonly AgentLiveness[]>;
  /** Sender marker files that are not valid. */
  senderErrors(): readonly Defect[];
  forget(gardenId: string): void;
}

interface CountedCitizen {
  readonly record: MetaRecord;
  /** How many messages wait. */
  readonly unread: number;
}

export interface LivenessResult {
  readonly agent: AgentLiveness;
  /** The problem with its receiver marker, when the file is not valid. */
  readonly errors: readonly Defect[];
}

interface CachedMarker {
  /** Null when the file may change without getting another stamp. */
  readonly stamp: StatStamp | null;
  readonly read: MarkerRead<ReceiverMarker>;
}

/** The markers of one citizen, before the processes in them were asked for. */
interface CitizenMarkers extends CountedCitizen {
  readonly receiver: MarkerRead<ReceiverMarker>;
  readonly senders: readonly SenderMarker[];
}

/** Within one machine an answer comes at once; a process that takes longer hangs. */
const SOCKET_MS = 200;
const NOBODY: readonly SenderMarker[] = [];
const NO_NAMES: ReadonlySet<string> = new Set();
const ABSENT: MarkerRead<ReceiverMarker> = { is: 'absent' };
const NO_DEFECTS: readonly Defect[] = [];
const NO_PROCESSES: ReadonlyMap<number, ProcessState> = new Map();

export function createLivenessReader(
  disk: Disk,
  places: GardenPlaces,
  probes: LivenessProbes,
  clock: Clock,
): LivenessReader {
  /** The receiver markers that exist. */
  const receivers = new Map<string, CachedMarker>();
  let senders: {
    /** One per backend, null where there is no directory. Null when a directory may change without getting another stamp. */
    readonly stamps: readonly (StatStamp | null)[] | null;
    readonly read: SenderMarkers;
    readonly of: Map<string, SenderMarker[]>;
  } | null = null;

  function getReceiver(gardenId: string): MarkerRead<ReceiverMarker> {
    const known = receivers.get(gardenId);
    const stat = tryLstat(toReceiverPath(places.receivers, gardenId));
    if (stat === null) {
      receivers.delete(gardenId);
      return ABSENT;
    }
    const stamp = known?.stamp ?? null;
    if (known !== undefined && stamp !== null && stat !== 'unknown' && isSameStamp(stamp, stat)) return known.read;
    const read = readReceiver(disk, places.receivers, gardenId);
    const isSure = stat !== 'unknown' && stat.ctimeMs < clock.now() - COARSE_MS;
    receivers.set(gardenId, { stamp: isSure ? toStamp(stat) : null, read });
    return read;
  }

  /** Null when the file does not exist; `unknown` when it cannot be checked. */
  function tryLstat(path: string): Stat | null | 'unknown' {
    try {
      return disk.files.lstat(path);
    } catch {
      return 'unknown'; // the reader of the file says why
    }
  }

  /** The names of the receiver markers; null when the directory cannot be listed, so that each file is checked. */
  function listReceivers(): ReadonlySet<string> | null {
    try {
      return new Set(disk.files.readdir(places.receivers));
    } catch (error) {
      return getErrno(error) === 'ENOENT' ? NO_NAMES : null; // the reader of a file says why
    }
  }

  function refreshSenders(): NonNullable<typeof senders> {
    const stamps = readSendersStamps();
    if (senders !== null && isSameStamps(senders.stamps, stamps)) return senders;
    const read = readSenders(disk, places.senders);
    senders = { stamps, read, of: Map.groupBy(read.markers, ({ gardenId }) => gardenId) };
    return senders;
  }

  function readSendersStamps(): readonly (StatStamp | null)[] | null {
    const at = clock.now();
    const stamps: (StatStamp | null)[] = [];
    for (const backend of NATIVE_BACKENDS) {
      const stat = tryLstat(join(places.senders, backend));
      if (stat === 'unknown' || (stat !== null && !isStampProof(stat, at))) return null;
      stamps.push(stat === null ? null : toStamp(stat));
    }
    return stamps;
  }

  /**
   * Returns what finds the markers of citizens. The sender markers are checked once, when they are first needed.
   * @param named the receiver markers that exist; null: each file is checked
   */
  function createMarkerFinder(named: ReadonlySet<string> | null): (citizen: CountedCitizen) => CitizenMarkers {
    let bySender: ReadonlyMap<string, readonly SenderMarker[]> | null = null;
    return ({ record, unread }) => {
      const { gardenId, backend } = record;
      const isAbsent = named !== null && !named.has(`${gardenId}.json`);
      if (isAbsent) receivers.delete(gardenId);
      const receiver = isAbsent ? ABSENT : getReceiver(gardenId);
      if (backend !== 'antigravity') return { record, unread, receiver, senders: NOBODY };
      bySender ??= refreshSenders().of;
      return { record, unread, receiver, senders: bySender.get(gardenId) ?? NOBODY };
    };
  }

  async function judge(all: readonly CitizenMarkers[]): Promise<readonly AgentLiveness[]> {
    const pids: number[] = [];
    const probed = new Map<string, SocketListener>();
    for (const { record, receiver, senders: own } of all) {
      if (receiver.is === 'marker' && record.backend === 'claude-code') pids.push(receiver.marker.ownerPid);
      for (const { ownerPid } of own) pids.push(ownerPid);
    }
    const processes = pids.length === 0 ? NO_PROCESSES : await probes.readProcesses(pids);
    await Promise.all(
      all
        .filter(({ record }) => record.backend === 'pi')
        .map(async ({ record: { gardenId } }) => {
          probed.set(gardenId, await probes.probeListener(join(places.sockets, `${gardenId}.sock`), SOCKET_MS));
        }),
    );
    return all.map(({ record, receiver, senders: own, unread }) => {
      const listener = probed.get(record.gardenId) ?? null;
      return judgeLiveness(record, { receiver, senders: own, processes, listener, unread });
    });
  }

  return {
    async read(citizen) {
      const markers = createMarkerFinder(null)(citizen);
      const [agent] = await judge([markers]);
      if (agent === undefined) throw new Error('a citizen without a judgement');
      const { receiver } = markers;
      if (receiver.is !== 'defect') return { agent, errors: NO_DEFECTS };
      return { agent, errors: [{ filename: `${citizen.record.gardenId}.json`, message: receiver.why }] };
    },
    async judgeAll(citizens) {
      return await judge(citizens.map(createMarkerFinder(listReceivers())));
    },
    senderErrors: () => refreshSenders().read.errors,
    forget: (gardenId) => void receivers.delete(gardenId),
  };
}

function isSameStamps(a: readonly (StatStamp | null)[] | null, b: readonly (StatStamp | null)[] | null): boolean {
  return a !== null && b !== null && a.every((stamp, i) => isSameDirectory(stamp, b[i] ?? null));
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
