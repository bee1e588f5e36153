import type { Fact } from '../../core/board/index.ts';
import {
  askDaemon,
  computeDaemonPlaces,
  type DaemonPlaces,
  type DaemonStatus,
  type DaemonSurroundings,
} from '../../core/link/index.ts';
import { Fault } from '../../core/model/index.ts';
import {
  createDaemonSource,
  DAEMON_SOURCE,
  type DaemonSource,
  type DaemonSourceOptions,
  isAlive,
} from '../../core/sources/daemon/index.ts';
import type { Machine } from '../host/machine.ts';
import type { WatchedHive } from './hives.ts';

/** The persona daemons of this machine, watched as a hive of their own. */
export interface DaemonHive {
  readonly hive: WatchedHive;
  readonly metrics: DaemonSource['metrics'];
}

export interface DaemonHivePlaces {
  readonly around: DaemonSurroundings;
  /** The id by which the daemons know this machine. */
  readonly machineId: string;
}

/** A machine without daemons has no such hive on its board. How often Hivebar looks for the first daemon. */
const APPEARS_EVERY_MS = 5000;
const ANSWER_MS = 2000;

/**
 * @param daemons the directory where they are installed @param put takes a fact about the health of each @param local see
 * `DaemonSourceOptions`
 */
export function openDaemonHive(
  daemons: string,
  { around, machineId }: DaemonHivePlaces,
  { disk, clock, log }: Pick<Machine, 'disk' | 'clock' | 'log'>,
  put: (fact: Fact) => void,
  local?: DaemonSourceOptions['local'],
): DaemonHive {
  const source = createDaemonSource({
    ...{ daemons, machineId, isAlive, ask: askStatus, disk, clock, log },
    ...(local === undefined ? {} : { local }),
    findPlaces: (daemon) => computeDaemonPlaces(daemon, around),
    onStatus: ({ id }, status, at) =>
      put({ is: 'daemon', at, persona: id, daemon: status === null ? null : toDaemonView(status, at) }),
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
        while (!signal.aborted && !hasAny()) await clock.sleep(APPEARS_EVERY_MS, signal);
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
      throw new Fault('daemon-gone', `${at} does not run`, scope);
    case 'silent':
      throw new Fault('timeout', `${at} gave no answer within ${ANSWER_MS / 1000} s`, scope);
    case 'refused':
      throw new Fault('daemon-refused', `${at} refuses: ${reply.message}`, scope);
    case 'bad-answer':
      throw new Fault('daemon-refused', `${at} answers what is no status`, scope);
  }
}

function toDaemonView(status: DaemonStatus, at: number) {
  const { surface, project, fsm, taxonomy, degraded, drain_age_s, last_error_class: lastError } = status;
  const drainedAt = at - drain_age_s * 1000;
  return { surface, project, fsm, taxonomy, isDegraded: degraded !== null, drainedAt, lastError };
}
