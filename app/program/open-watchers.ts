import { isDeepStrictEqual } from 'node:util';
import type { Supervisor } from '../../core/services/index.ts';
import type { Outbox } from '../../core/sinks/outbox/index.ts';
import { listReservedIds } from '../../core/sources/derived.ts';
import type { PositionStore, SettingsAccess, WatchedHive } from '../../core/sources/module.ts';
import { toStem } from '../../core/state/index.ts';
import type { InterruptionDetector } from '../../core/watcher/index.ts';
import type { SettingName, Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { openSessionStore } from '../open/index.ts';
import { createHiveGroup } from '../sources/hive-group.ts';
import { createHiveWatchers, type HiveWatchers, type SavedTrayState } from '../sources/hive-watchers.ts';
import { openSources, type Sources } from '../sources/open-sources.ts';
import type { TrayState } from './tray-state.ts';

export interface WatchersOptions {
  readonly state: TrayState;
  /** The state directory. */
  readonly directory: string;
  /** With the decided `primary`. It has what applies now, whenever it is read. */
  readonly settings: Settings;
  readonly settingsFile: SettingsAccess;
  readonly ownHive: WatchedHive;
  readonly supervisor: Supervisor;
  readonly interruptions: InterruptionDetector;
  /** Nothing can be written: only the local hive is watched. */
  readonly isReadOnly: boolean;
}

export interface Watchers {
  readonly sources: Sources;
  /** The watchers of all hives. Those of hives that come and go are put in and taken out. */
  readonly all: readonly HiveWatchers[];
  start(): void;
  /**
   * Applies settings that are others now. Watchers that are affected stop and begin again where they were, like at a restart.
   * @throws Fault
   */
  follow(changed: ReadonlySet<SettingName>): Promise<void>;
}

/** The settings that all watchers follow. */
const RULES: readonly SettingName[] = [
  'pollSeconds',
  'holdSeconds',
  'alertAfter',
  'strandedAlerts',
  'urgentAlerts',
  'maxReplay',
  'resyncEvery',
  'heartbeatSeconds',
];

/** Opens every source, and creates a watcher for each of its hives. Once started they run as services of the supervisor. */
export async function openWatchers(options: WatchersOptions, machine: Machine): Promise<Watchers> {
  const { state, directory, settings, settingsFile, ownHive, supervisor, interruptions, isReadOnly } = options;
  const { board, local, outbox, eventsDirectory } = state;
  /** The saved states while everything is opened. Later they are read for each hive, because watchers have saved newer ones. */
  let firstStates: ReadonlyMap<string, SavedTrayState> | null = outbox.readAllSaved();
  const createWatchers = (hive: WatchedHive): HiveWatchers =>
    createHiveWatchers({
      ...{ hive, settings, outbox, directory: eventsDirectory, board, machine },
      savedStates: firstStates ?? outbox.readAllSaved(),
      run: machine.random.hex(8), // events that are no mail are counted from 1 in each run
      settling: interruptions.isSettling,
    });
  const all: HiveWatchers[] = [];
  const sessions = openSessionStore(state.db);
  const sources = await openSources(
    {
      ...{ settings, local, state: directory, put: board.put, watchers: all, supervisor, isReadOnly },
      findSessionPersona: sessions.findPersona,
      ...{ positions: createPositionStore(outbox), settingsFile },
      listSessionFolders: () => [
        ...new Set([
          ...sessions.listAll().flatMap(({ cwd, endedAt }) => (endedAt === null ? [cwd] : [])),
          ...board.snapshot().personas.flatMap(({ agentState }) => agentState.cwd ?? []),
        ]),
      ],
      createWatchers,
    },
    machine,
  );
  const createOwn = () =>
    createHiveGroup({
      ...{ hives: [ownHive], services: [], createWatchers, all, supervisor },
      ...{ put: board.put, clock: machine.clock },
    });
  let own = createOwn();
  firstStates = null;
  let reserved = listReservedIds(settings);
  return {
    sources,
    all,
    start() {
      own.start();
      sources.start();
    },
    async follow(changed) {
      const before = reserved;
      reserved = listReservedIds(settings);
      const areNamesOther = !isDeepStrictEqual(before, reserved);
      const isForAll = RULES.some((name) => changed.has(name));
      if (areNamesOther || isForAll) {
        await own.stop();
        own.giveWayTo([ownHive]);
        own = createOwn();
        own.start();
      }
      await sources.follow(changed, isForAll ? 'all' : areNamesOther ? 'names' : 'own');
    },
  };
}

/** Positions of sources are records of the outbox without events, so they are stored in order with those that have some. */
function createPositionStore(outbox: Outbox<SavedTrayState>): PositionStore {
  return {
    read(key) {
      const saved = outbox.readSaved(key);
      return typeof saved?.identity === 'object' ? saved.identity : null;
    },
    async save(key, value) {
      const position: SavedTrayState = { cursor: null, state: 'UP', consecutive_failures: 0, identity: value };
      const ack = await outbox.sinkFor(key, toStem(key)).take([], position, new AbortController().signal);
      if (ack.is !== 'all') throw ack.fault;
    },
  };
}
