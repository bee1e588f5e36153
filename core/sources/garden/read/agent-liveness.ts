import { join, sep } from 'node:path';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { createGardenFault } from '../settings.ts';
import {
  CAPABILITIES,
  type CitizenIdentity,
  describeValue,
  type GardenFields,
  type MetaRecord,
  NATIVE_BACKENDS,
  type NativeBackend,
  parseFields,
  parseGardenId,
  requireText,
  requireWord,
} from './record.ts';
import { listNames, MOST_JSON, readOwners, readSmall } from './small-file.ts';
import type { SocketListener } from './socket.node.ts';
import type { Defect } from './store.ts';

/** Why an agent is not known to be alive, or why its mail waits (garden contract 7). */
export type AgentReason =
  | 'no-drain'
  | 'not-armed'
  | 'owner-dead'
  | 'owner-implausible'
  | 'owner-uncertain'
  | 'identity-mismatch';

/** Whether the agent behind a citizen is alive. It says nothing about the mailbox, and never raises an alert. */
export interface AgentLiveness {
  readonly is: 'live' | 'gone' | 'unknown';
  /** The most important reason first. A live agent may also have mail that nobody drains. */
  readonly reasons: readonly AgentReason[];
}

/** The evidence that was found about one citizen. */
export interface LivenessSigns {
  readonly receiver: MarkerRead<ReceiverMarker>;
  /** The sender markers that name this citizen. */
  readonly senders: readonly SenderMarker[];
  readonly processes: ReadonlyMap<number, ProcessState>;
  /** Null for a citizen without a control socket. */
  readonly listener: SocketListener | null;
  readonly unread: number;
}

type SessionIdentity = Pick<MetaRecord, 'gardenId' | 'backend' | 'nativeSessionId'>;

const NO_EVIDENCE: AgentLiveness = { is: 'unknown', reasons: [] };

type UnknownReason = 'not-armed' | 'owner-implausible' | 'owner-uncertain' | 'identity-mismatch';

const UNKNOWN_BY_REASON: Readonly<Record<UnknownReason, AgentLiveness>> = {
  'not-armed': { is: 'unknown', reasons: ['not-armed'] },
  'owner-implausible': { is: 'unknown', reasons: ['owner-implausible'] },
  'owner-uncertain': { is: 'unknown', reasons: ['owner-uncertain'] },
  'identity-mismatch': { is: 'unknown', reasons: ['identity-mismatch'] },
};

/** Judges one citizen. Equal judgements are the same object, so that thousands of them are compared without looking into them. */
export function judgeLiveness(citizen: CitizenIdentity | MetaRecord, signs: LivenessSigns): AgentLiveness {
  const agent = judgeByBackend(citizen, signs);
  const waits = signs.unread > 0 && CAPABILITIES[citizen.backend].wakeMode === 'direct-inject';
  return waits ? addNoDrain(agent) : agent;
}

const WITH_NO_DRAIN = new Map<AgentLiveness, AgentLiveness>();

function addNoDrain(agent: AgentLiveness): AgentLiveness {
  const known = WITH_NO_DRAIN.get(agent);
  if (known !== undefined) return known;
  const added: AgentLiveness = { is: agent.is, reasons: ['no-drain', ...agent.reasons] };
  WITH_NO_DRAIN.set(agent, added);
  return added;
}

function judgeByBackend(
  citizen: SessionIdentity,
  { receiver, senders, processes, listener }: LivenessSigns,
): AgentLiveness {
  switch (citizen.backend) {
    case 'claude-code':
      return receiver.is === 'marker'
        ? judgeByOwner(citizen, receiver.marker, processes)
        : UNKNOWN_BY_REASON['not-armed'];
    case 'antigravity':
      return pickBest(senders.map((marker) => judgeByOwner(citizen, marker, processes)));
    case 'pi':
      return judgeByListener(listener);
    case 'codex':
      return NO_EVIDENCE; // codex writes no markers and opens no socket
  }
}

/** Judges by a marker. One of another citizen, or with an impossible owner, says nothing about this citizen. */
function judgeByOwner(
  citizen: SessionIdentity,
  marker: ReceiverMarker | SenderMarker,
  processes: LivenessSigns['processes'],
): AgentLiveness {
  const owner = judgeOwner(marker.ownerPid, marker.ownerStartKey, processes.get(marker.ownerPid));
  if (owner === 'implausible') return UNKNOWN_BY_REASON['owner-implausible'];
  if (!isSame(citizen, marker)) return UNKNOWN_BY_REASON['identity-mismatch'];
  return LIVENESS_BY_OWNER[owner];
}

const LIVENESS_BY_OWNER: Readonly<Record<Exclude<OwnerState, 'implausible'>, AgentLiveness>> = {
  live: { is: 'live', reasons: [] },
  dead: { is: 'gone', reasons: ['owner-dead'] },
  uncertain: UNKNOWN_BY_REASON['owner-uncertain'],
};

function isSame(a: SessionIdentity, b: SessionIdentity): boolean {
  return a.gardenId === b.gardenId && a.backend === b.backend && a.nativeSessionId === b.nativeSessionId;
}

/** Picks the best of several owners. One live owner is enough, because every ended session leaves a dead one behind. */
function pickBest(agents: readonly AgentLiveness[]): AgentLiveness {
  const order: readonly AgentLiveness['is'][] = ['live', 'unknown', 'gone'];
  const ranked = order.flatMap((is) => agents.filter((agent) => agent.is === is));
  return ranked[0] ?? UNKNOWN_BY_REASON['not-armed'];
}

function judgeByListener(listener: SocketListener | null): AgentLiveness {
  switch (listener) {
    case 'listening':
      return LIVENESS_BY_OWNER.live;
    case 'refused':
      return LIVENESS_BY_OWNER.dead;
    case 'implausible':
      return UNKNOWN_BY_REASON['owner-implausible'];
    case 'uncertain':
      return LIVENESS_BY_OWNER.uncertain;
    case 'absent':
    case null:
      return UNKNOWN_BY_REASON['not-armed'];
  }
}

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
  `${receivers}${sep}${parseGardenId(gardenId)}.json`;
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
      else
        errors.push({
          filename,
          message: `is the marker of ${marker.backend}/${marker.ownerPid}, which does not match its name`,
        });
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

/**
 * What is known about a process. The system reuses process numbers, so only number and start key together identify a process.
 * Keys of different families (`linux:` and `ps:`) cannot be compared.
 */
export type ProcessState =
  | { readonly is: 'running'; readonly startKey: string }
  | { readonly is: 'gone' }
  | { readonly is: 'unknown' };

/** Asks the system about all these processes at once. */
export type ProcessReader = (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessState>>;

/** The state of a marker's owner. `implausible`: no session can have this process number (garden contract 5). */
export type OwnerState = 'live' | 'dead' | 'uncertain' | 'implausible';

const LARGEST_PID = 2 ** 31 - 1;

/** Process 1 adopts orphans and owns no session. */
export function isPlausible(pid: number): boolean {
  return Number.isInteger(pid) && pid > 1 && pid <= LARGEST_PID;
}

export function judgeOwner(pid: number, startKey: string, state: ProcessState | undefined): OwnerState {
  if (!isPlausible(pid)) return 'implausible';
  switch (state?.is) {
    case 'running':
      if (toKeyFamily(state.startKey) !== toKeyFamily(startKey)) return 'uncertain';
      return state.startKey === startKey ? 'live' : 'dead';
    case 'gone':
      return 'dead';
    default:
      return 'uncertain';
  }
}

function toKeyFamily(key: string): string {
  return key.slice(0, key.indexOf(':') + 1);
}

const STATE = 0; // index among the fields behind the command: field 3
const START_TIME = 19; // field 22, in ticks since boot

/**
 * Parses the line of `/proc/<pid>/stat`. The command in it may hold spaces and `)`, so fields are counted from the last `)`. A
 * process that ended and was not waited for is gone.
 */
export function parseProcStat(line: string): ProcessState {
  const fields = line
    .slice(line.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const state = fields[STATE] ?? '';
  if (state === 'Z' || state === 'X') return { is: 'gone' };
  const started = fields[START_TIME] ?? '';
  return /^\d+$/.test(started) ? { is: 'running', startKey: `linux:${started}` } : { is: 'unknown' };
}

/** Parses the lines of `ps -o pid=,lstart=`. */
export function parsePsOutput(stdout: string): ReadonlyMap<number, ProcessState> {
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const match = /^\s*(\d+)\s+(\S.*?)\s*$/.exec(line);
      return match === null ? [] : [[Number(match[1]), { is: 'running', startKey: `ps:${match[2]}` }] as const];
    }),
  );
}
