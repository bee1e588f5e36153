import type { Supervisor } from '../../core/services/index.ts';
import type { Outbox } from '../../core/sinks/outbox/index.ts';
import type { PositionStore, SettingsAccess, WatchedHive } from '../../core/sources/module.ts';
import { toStem } from '../../core/state/index.ts';
import type { InterruptionDetector } from '../../core/watcher/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { openSessionStore } from '../open/index.ts';
import { createHiveWatchers, type HiveWatchers, type SavedTrayState } from '../sources/hive-watchers.ts';
import { openSources, type Sources } from '../sources/open-sources.ts';
import type { TrayState } from './tray-state.ts';

export interface WatchersOptions {
  readonly state: TrayState;
  /** The state directory. */
  readonly directory: string;
  /** With the decided `primary`. */
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
  /** The watchers of the hives that are there from the start, the primary hive first. */
  readonly fixed: readonly HiveWatchers[];
}

/** Opens every source, and creates a watcher for each of its hives. They run as services of the supervisor. */
export async function openWatchers(options: WatchersOptions, machine: Machine): Promise<Watchers> {
  const { state, directory, settings, settingsFile, ownHive, supervisor, interruptions, isReadOnly } = options;
  const { board, local, outbox, eventsDirectory } = state;
  const run = machine.random.hex(8);
  const createWatchers = (hive: WatchedHive, savedStates: ReadonlyMap<string, SavedTrayState>): HiveWatchers =>
    createHiveWatchers({
      ...{ hive, settings, outbox, directory: eventsDirectory, savedStates, board, machine, run },
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
      createWatchers: (hive) => createWatchers(hive, outbox.readAllSaved()), // one that was released has newer saved states
    },
    machine,
  );
  const savedStates = outbox.readAllSaved();
  const hives = sources.all.flatMap((source) => source.hives);
  hives.splice(settings.primary?.is === 'local' ? 0 : 1, 0, ownHive);
  const fixed = hives.map((hive) => createWatchers(hive, savedStates));
  all.push(...fixed);
  return { sources, all, fixed };
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
