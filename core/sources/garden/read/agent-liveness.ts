import type { CitizenReason } from '../../../model/index.ts';
import { CAPABILITIES } from './backends.ts';
import type { MarkerRead, ReceiverMarker, SenderMarker } from './markers.ts';
import type { CitizenIdentity, MetaRecord } from './record.ts';
import type { SocketListener } from './socket.node.ts';
import { judgeOwner, type OwnerState, type ProcessState } from './start-key.ts';

/** Why an agent is not known to be alive, or why its mail waits (garden contract 7). */
export type AgentReason = CitizenReason;

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

export function judgeLiveness(citizen: CitizenIdentity | MetaRecord, signs: LivenessSigns): AgentLiveness {
  const agent = judgeByBackend(citizen, signs);
  const waits = signs.unread > 0 && CAPABILITIES[citizen.backend].wakeMode === 'direct-inject';
  return waits ? { is: agent.is, reasons: ['no-drain', ...agent.reasons] } : agent;
}

function judgeByBackend(
  citizen: SessionIdentity,
  { receiver, senders, processes, listener }: LivenessSigns,
): AgentLiveness {
  switch (citizen.backend) {
    case 'claude-code':
      return receiver.is === 'marker' ? judgeByOwner(citizen, receiver.marker, processes) : createUnknown('not-armed');
    case 'antigravity':
      return pickBest(senders.map((marker) => judgeByOwner(citizen, marker, processes)));
    case 'pi':
      return judgeByListener(listener);
    case 'codex':
      return { is: 'unknown', reasons: [] }; // codex writes no markers and opens no socket
  }
}

/** Judges by a marker. One of another citizen, or with an impossible owner, says nothing about this citizen. */
function judgeByOwner(
  citizen: SessionIdentity,
  marker: ReceiverMarker | SenderMarker,
  processes: LivenessSigns['processes'],
): AgentLiveness {
  const owner = judgeOwner(marker.ownerPid, marker.ownerStartKey, processes.get(marker.ownerPid));
  if (owner === 'implausible') return createUnknown('owner-implausible');
  if (!isSame(citizen, marker)) return createUnknown('identity-mismatch');
  return LIVENESS_BY_OWNER[owner];
}

const LIVENESS_BY_OWNER: Readonly<Record<Exclude<OwnerState, 'implausible'>, AgentLiveness>> = {
  live: { is: 'live', reasons: [] },
  dead: { is: 'gone', reasons: ['owner-dead'] },
  uncertain: { is: 'unknown', reasons: ['owner-uncertain'] },
};

function isSame(a: SessionIdentity, b: SessionIdentity): boolean {
  return a.gardenId === b.gardenId && a.backend === b.backend && a.nativeSessionId === b.nativeSessionId;
}

/** Picks the best of several owners. One live owner is enough, because every ended session leaves a dead one behind. */
function pickBest(agents: readonly AgentLiveness[]): AgentLiveness {
  const order: readonly AgentLiveness['is'][] = ['live', 'unknown', 'gone'];
  const ranked = order.flatMap((is) => agents.filter((agent) => agent.is === is));
  return ranked[0] ?? createUnknown('not-armed');
}

function judgeByListener(listener: SocketListener | null): AgentLiveness {
  switch (listener) {
    case 'listening':
      return LIVENESS_BY_OWNER.live;
    case 'refused':
      return LIVENESS_BY_OWNER.dead;
    case 'implausible':
      return createUnknown('owner-implausible');
    case 'uncertain':
      return LIVENESS_BY_OWNER.uncertain;
    case 'absent':
    case null:
      return createUnknown('not-armed');
  }
}

function createUnknown(reason: AgentReason): AgentLiveness {
  return { is: 'unknown', reasons: [reason] };
}
