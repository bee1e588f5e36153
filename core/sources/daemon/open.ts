import { join } from 'node:path';
import { formatQuantity } from '../../format/index.ts';
import { askDaemon, computeDaemonPlaces, type DaemonPlaces, type DaemonStatus } from '../../link/index.ts';
import { Fault } from '../../model/index.ts';
import { waitUntil } from '../../services/index.ts';
import { findOwnDirs } from '../../state/index.ts';
import type { SourceEnvironment, SourceHost, SourcePlace, WatchedHive, WatchedSource } from '../module.ts';
import { type DaemonHivePlaces, isAlive, resolveDaemonHivePlaces } from './own-places.node.ts';
import { DAEMON_SOURCE } from './settings.ts';
import { createDaemonSource, type DaemonSource } from './source.ts';

/** The persona daemons of this machine, watched as a hive of their own. */
export interface DaemonHive {
  readonly hive: WatchedHive;
  readonly metrics: DaemonSource['metrics'];
}

/** A machine without daemons has no such hive on its board. How often Hivebar looks for the first daemon. */
const APPEARS_EVERY_MS = 5000;
const ANSWER_MS = 2000;

/** Opens the persona daemons that are installed on this machine. */
export function openDaemons(host: SourceHost): WatchedSource {
  const { hive, metrics } = openDaemonHive(toDaemonsFolder(host.state), resolveDaemonHivePlaces(host.env), host);
  return { hives: [hive], metrics, [Symbol.asyncDispose]: async () => {} };
}

/** The folder of installed daemons. */
export function findDaemonPlaces({ env, disk }: SourceEnvironment): readonly SourcePlace[] {
  const where = toDaemonsFolder(findOwnDirs({ ...env }).state);
  const count = disk.files.lstat(where) === null ? 0 : disk.files.readdir(where).length;
  return [{ what: 'persona daemons', where, found: count === 0 ? null : formatQuantity(count, 'daemon') }];
}

/** Returns the folder in which daemons are installed. @param state the state directory */
export const toDaemonsFolder = (state: string): string => join(state, 'daemons');

/** @param daemons the folder in which they are installed @param host without `put` nobody is told how each does */
export function openDaemonHive(
  daemons: string,
  { around, machineId }: DaemonHivePlaces,
  host: Pick<SourceHost, 'disk' | 'clock' | 'log'> & Partial<Pick<SourceHost, 'put' | 'onLocalMail'>>,
): DaemonHive {
  const { disk, clock, log, put, onLocalMail } = host;
  const source = createDaemonSource({
    ...{ daemons, machineId, isAlive, ask: askStatus, disk, clock, log },
    ...(onLocalMail === undefined ? {} : { local: onLocalMail }),
    findPlaces: (daemon) => computeDaemonPlaces(daemon, around),
    onStatus: ({ id }, status, at) =>
      put?.({ is: 'reported', at, persona: id, values: { daemon: status === null ? null : toDaemonView(status, at) } }),
  });
  return {
    metrics: source.metrics,
    hive: {
      source,
      address: daemons,
      identity: ({ address }) => [DAEMON_SOURCE, address],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: false,
      async appears(signal) {
        await waitUntil(hasAny, APPEARS_EVERY_MS, clock, signal);
        return 'there'; // daemons only have counts
      },
    },
  };

  /** A directory that cannot be read counts as present, so that its fault is shown. */
  function hasAny(): boolean {
    try {
      return disk.files.lstat(daemons) !== null && disk.files.readdir(daemons).length > 0;
    } catch {
      return true; // listing it reports what is wrong
    }
  }
}

/** @throws Fault that names the socket */
async function askStatus(places: DaemonPlaces, signal: AbortSignal): Promise<DaemonStatus> {
  const reply = await askDaemon(places, { verb: 'status' }, { timeoutMs: ANSWER_MS, signal });
  const scope = { is: 'persona', key: `${DAEMON_SOURCE}-${places.name}` } as const;
  const at = `the daemon ${places.name} at ${places.socket}`;
  switch (reply.is) {
    case 'answered':
      return reply.answer;
    case 'not-running':
      throw new Fault('daemon-gone', `${at} is not running`, scope);
    case 'silent':
      throw new Fault('timeout', `${at} did not answer within ${ANSWER_MS / 1000} s`, scope);
    case 'refused':
      throw new Fault('daemon-refused', `${at} refuses: ${reply.message}`, scope);
    case 'bad-answer':
      throw new Fault('daemon-refused', `${at} sent an answer that is not a status`, scope);
  }
}

function toDaemonView(status: DaemonStatus, at: number) {
  const { surface, project, fsm, taxonomy, degraded, drain_age_s, last_error_class: lastError } = status;
  const drainedAt = at - drain_age_s * 1000;
  return { surface, project, fsm, taxonomy, isDegraded: degraded !== null, drainedAt, lastError };
}
