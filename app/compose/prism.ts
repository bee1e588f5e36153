import type { Fact } from '../../core/board/index.ts';
import {
  askLink,
  type DaemonPlaces,
  type DaemonStatus,
  type DaemonSurroundings,
  daemonPlaces,
} from '../../core/link/index.ts';
import { Fault } from '../../core/model/index.ts';
import { isAlive, PRISM, type PrismOptions, type PrismSource, prismSource } from '../../core/sources/prism/index.ts';
import type { WatchedHive } from './hives.ts';
import type { Machine } from './machine.ts';

/** The persona daemons of this machine, watched as a hive of their own. */
export interface WatchedDaemons {
  readonly hive: WatchedHive;
  readonly metrics: PrismSource['metrics'];
}

export interface PrismPlaces {
  readonly around: DaemonSurroundings;
  /** What its daemons call this machine. */
  readonly machineId: string;
}

/** A machine without a daemon has none on its board; the first is asked for so often. */
const APPEARS_EVERY_MS = 5000;
const ANSWER_MS = 2000;

/** @param daemons where they are installed @param put hears how each does @param local see `PrismOptions` */
export function prismOf(
  daemons: string,
  { around, machineId }: PrismPlaces,
  { disk, clock, log }: Pick<Machine, 'disk' | 'clock' | 'log'>,
  put: (fact: Fact) => void,
  local?: PrismOptions['local'],
): WatchedDaemons {
  const source = prismSource({
    ...{ daemons, machineId, isAlive, ask: statusOf, disk, clock, log },
    ...(local === undefined ? {} : { local }),
    placesOf: (daemon) => daemonPlaces(daemon, around),
    said: ({ id }, status, at) =>
      put({ is: 'daemon', at, persona: id, daemon: status === null ? null : viewOf(status, at) }),
  });
  return {
    metrics: source.metrics,
    hive: {
      source,
      address: daemons,
      identity: ({ address }) => [PRISM, address],
      named: source.named,
      holdMs: null,
      ...{ isLocal: false, isHere: true, tellsAll: false },
      async appears(signal) {
        while (!signal.aborted && !hasSome()) await clock.sleep(APPEARS_EVERY_MS, signal);
        return 'there'; // its daemons have counts only
      },
    },
  };

  /** What can not be looked at is there, and its trouble is shown. */
  function hasSome(): boolean {
    try {
      return disk.files.lstat(daemons) !== null && disk.files.readdir(daemons).length > 0;
    } catch {
      return true; // whoever lists it says what is wrong
    }
  }
}

/** @throws Fault that names the socket */
async function statusOf(places: DaemonPlaces, signal: AbortSignal): Promise<DaemonStatus> {
  const asked = await askLink(places, { verb: 'status' }, { timeoutMs: ANSWER_MS, signal });
  const scope = { is: 'persona', key: `${PRISM}-${places.name}` } as const;
  const at = `the daemon ${places.name} at ${places.socket}`;
  switch (asked.is) {
    case 'answered':
      return asked.answer;
    case 'not-running':
      throw new Fault('daemon-gone', `${at} does not run`, scope);
    case 'silent':
      throw new Fault('timeout', `${at} gave no answer within ${ANSWER_MS / 1000} s`, scope);
    case 'refused':
      throw new Fault('daemon-refused', `${at} refuses: ${asked.message}`, scope);
    case 'bad-answer':
      throw new Fault('daemon-refused', `${at} answers what is no status`, scope);
  }
}

function viewOf(status: DaemonStatus, at: number) {
  const { surface, project, fsm, taxonomy, degraded, drain_age_s, last_error_class: lastError } = status;
  const drainedAt = at - drain_age_s * 1000;
  return { surface, project, fsm, taxonomy, isDegraded: degraded !== null, drainedAt, lastError };
}
