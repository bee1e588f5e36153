import type { CitizenReason } from '../../../model/index.ts';
import { CAPABILITIES } from './backends.ts';
import type { MarkerRead, ReceiverMarker, SenderMarker } from './markers.ts';
import type { Identity, MetaRecord } from './record.ts';
import type { Listener } from './socket.node.ts';
import { type Owner, ownerOf, type ProcessState } from './start-key.ts';

/** Why an agent is not known to live, or why its mail waits (garden contract 7). */
export type AgentReason = CitizenReason;

/** Whether the agent behind a citizen lives. It says nothing of its mailbox, and never raises an alert. */
export interface Agent {
  readonly is: 'live' | 'gone' | 'unknown';
  /** The most telling first; a live one may have mail that nobody drains. */
  readonly reasons: readonly AgentReason[];
}

/** What was found out about one citizen. */
export interface Signs {
  readonly receiver: MarkerRead<ReceiverMarker>;
  /** Those that name it. */
  readonly senders: readonly SenderMarker[];
  readonly processes: ReadonlyMap<number, ProcessState>;
  /** Null for who has no control socket. */
  readonly listener: Listener | null;
  readonly unread: number;
}

type Who = Pick<MetaRecord, 'gardenId' | 'backend' | 'nativeSessionId'>;

export function agentOf(citizen: Identity | MetaRecord, signs: Signs): Agent {
  const agent = withoutMail(citizen, signs);
  const waits = signs.unread > 0 && CAPABILITIES[citizen.backend].wakeMode === 'direct-inject';
  return waits ? { is: agent.is, reasons: ['no-drain', ...agent.reasons] } : agent;
}

function withoutMail(citizen: Who, { receiver, senders, processes, listener }: Signs): Agent {
  switch (citizen.backend) {
    case 'claude-code':
      return receiver.is === 'marker' ? byOwner(citizen, receiver.marker, processes) : unknown('not-armed');
    case 'antigravity':
      return best(senders.map((marker) => byOwner(citizen, marker, processes)));
    case 'pi':
      return byListener(listener);
    case 'codex':
      return { is: 'unknown', reasons: [] }; // it arms nothing and opens no socket
  }
}

/** A marker of somebody else, or with an owner that can be none, says nothing about this citizen. */
function byOwner(citizen: Who, marker: ReceiverMarker | SenderMarker, processes: Signs['processes']): Agent {
  const owner = ownerOf(marker.ownerPid, marker.ownerStartKey, processes.get(marker.ownerPid));
  if (owner === 'implausible') return unknown('owner-implausible');
  if (!isSame(citizen, marker)) return unknown('identity-mismatch');
  return OF_OWNER[owner];
}

const OF_OWNER: Readonly<Record<Exclude<Owner, 'implausible'>, Agent>> = {
  live: { is: 'live', reasons: [] },
  dead: { is: 'gone', reasons: ['owner-dead'] },
  uncertain: { is: 'unknown', reasons: ['owner-uncertain'] },
};

function isSame(a: Who, b: Who): boolean {
  return a.gardenId === b.gardenId && a.backend === b.backend && a.nativeSessionId === b.nativeSessionId;
}

/** One live owner is enough; dead ones are left behind by every session that ended. */
function best(agents: readonly Agent[]): Agent {
  const order: readonly Agent['is'][] = ['live', 'unknown', 'gone'];
  const found = order.flatMap((is) => agents.filter((agent) => agent.is === is));
  return found[0] ?? unknown('not-armed');
}

function byListener(listener: Listener | null): Agent {
  switch (listener) {
    case 'listening':
      return OF_OWNER.live;
    case 'refused':
      return OF_OWNER.dead;
    case 'implausible':
      return unknown('owner-implausible');
    case 'uncertain':
      return OF_OWNER.uncertain;
    case 'absent':
    case null:
      return unknown('not-armed');
  }
}

function unknown(reason: AgentReason): Agent {
  return { is: 'unknown', reasons: [reason] };
}
