import { join } from 'node:path';
import type { Disk } from '../../../state/index.ts';
import { type AgentLiveness, judgeLiveness } from './agent-liveness.ts';
import { readReceiver, readSenders } from './markers.ts';
import type { GardenPlaces } from './places.ts';
import type { MetaRecord } from './record.ts';
import type { SocketListener } from './socket.node.ts';
import type { ProcessReader } from './start-key.ts';
import type { Defect } from './store.ts';

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

const SOCKET_MS = 1000;

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
      const listener = record.backend === 'pi' ? await probes.probeListener(socket, SOCKET_MS) : null;
      const signs = { ...markers, processes, listener, unread: unread.get(record.gardenId) ?? 0 };
      return [record.gardenId, judgeLiveness(record, signs)] as const;
    }),
  );
  return { agents: new Map(agents), errors };
}
