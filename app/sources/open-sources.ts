import type { Fact } from '../../core/board/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import type { Supervisor } from '../../core/services/index.ts';
import {
  findPrimaryHive,
  findSourcePlaces,
  listReservedIds,
  type Primary,
  SECRET_VARIABLES,
  SOURCE_LIST,
  type SourceName,
  type SourceSettings,
} from '../../core/sources/derived.ts';
import type {
  HiveHandle,
  NativeSession,
  PersonaOnBoard,
  PositionStore,
  SettingsAccess,
  SourceEnvironment,
  SourceMetric,
  WatchedHive,
  WatchedProject,
  WatchedSource,
} from '../../core/sources/module.ts';
import type { Settings, SettingsFile } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { parseTmuxServer, type Session } from '../open/index.ts';
import { readVersion } from '../package.node.ts';
import { createHiveGroup, type HiveGroup } from './hive-group.ts';
import type { HiveWatchers } from './hive-watchers.ts';

/**
 * Decides which hive owns the bare names. This is decided once, on the first run, and written down: a hive that a source finds
 * on this machine, else the local hive (ARCHITECTURE, decision 2).
 */
export async function decidePrimary(
  file: SettingsFile,
  machine: Machine,
): Promise<{ primary: Primary; isFirstRun: boolean }> {
  const known = file.settings.primary;
  if (known !== undefined) return { primary: known, isFirstRun: false };
  const primary = (await findPrimaryHive(toEnvironment(file.settings, machine))) ?? { is: 'local' };
  file.decide(primary);
  machine.log.info(
    `first run: the primary hive is ${primary.is === 'local' ? 'the local one' : primary.base} (${file.path})`,
  );
  return { primary, isFirstRun: true };
}

/** What the sources find on this machine and watch, one line each. */
export async function findWatchedPlaces(settings: Settings, machine: Machine): Promise<readonly string[]> {
  const sources = await findSourcePlaces(settings, toEnvironment(settings, machine));
  return sources.flatMap(({ places }) =>
    places.flatMap(({ what: thing, where, found }) => (found === null ? [] : [`found ${thing}: ${found} (${where})`])),
  );
}

/** What the house gives to the sources. */
interface SourcesOptions {
  /** Has what applies now, whenever it is read. */
  readonly settings: Settings;
  readonly local: Pick<LocalHive, 'hints'>;
  /** The state directory. */
  readonly state: string;
  readonly put: (fact: Fact) => void;
  readonly createWatchers: (hive: WatchedHive) => HiveWatchers;
  /** The watchers of all hives in the process. Those of hives that come and go are put in and taken out here. */
  readonly watchers: HiveWatchers[];
  readonly supervisor: Supervisor;
  /** The persona that announced a session with this id of its agent program; null when none did. */
  readonly findSessionPersona: (sessionId: string) => PersonaId | null;
  /** The folders of known sessions. */
  readonly listSessionFolders: () => readonly string[];
  readonly positions: PositionStore;
  readonly settingsFile: SettingsAccess;
  /**
   * Nothing can be written: only the local hive is watched. Sources wait for room, because nothing that they deliver could be
   * saved.
   */
  readonly isReadOnly: boolean;
}

type SourceRow = (typeof SOURCE_LIST)[number];

interface OpenedSource {
  readonly watched: WatchedSource;
  /** Its hives that are there from the start. */
  readonly group: HiveGroup;
  /** Its hives that came. */
  readonly handles: ReadonlySet<HiveHandle>;
}

/** The sources that the settings ask for. */
export interface Sources extends AsyncDisposable {
  /** Starts all watchers, and whatever looks for hives that come. */
  start(): void;
  /**
   * Applies settings that are others now. A source whose settings are the same goes on.
   * @param scope `all`: whatever the settings are, each source is opened again; `names`: those without a prefix of their own
   * @throws Fault
   */
  follow(changed: ReadonlySet<string>, scope: 'own' | 'names' | 'all'): Promise<void>;
  /** Looks for hives that came. */
  poll(): void;
  /** The sessions of a persona that announced none. @throws Fault `exec-failed` */
  findSessions(persona: PersonaOnBoard): readonly NativeSession[];
  /** The address of the page that its own system has for a persona; null for none. */
  findPage(persona: PersonaOnBoard): string | null;
  /** The persona of a source that is this session of an agent program; null for none. */
  findSessionOwner(sessionId: string): PersonaId | null;
  metrics(): readonly SourceMetric[];
  /** Lists the projects of a source. */
  projects(source: SourceName): readonly WatchedProject[];
  /** @throws Fault `usage` when the source is switched off, or what the source throws */
  act(source: SourceName, action: string, params: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Opens every source of the registry. */
export async function openSources(options: SourcesOptions, machine: Machine): Promise<Sources> {
  const { settings, local, state, put } = options;
  const { random } = machine;
  const opened = new Map<SourceName, OpenedSource>();
  const all = (): WatchedSource[] => [...opened.values()].map(({ watched }) => watched);
  const sources = options.isReadOnly ? [] : SOURCE_LIST;
  for (const source of sources) await open(source);

  async function open(source: SourceRow): Promise<void> {
    const handles = new Set<HiveHandle>();
    const watched = await source.open(readOwn(source), {
      ...toEnvironment(settings, machine, source.secrets),
      ...{ random, state, put, contentChars: settings.contentChars, holdSeconds: settings.holdSeconds },
      onLocalMail: local.hints,
      watch: (hive) => {
        const handle = watch(hive, options);
        handles.add(handle);
        return handle;
      },
      findSessionPersona: options.findSessionPersona,
      listSessionFolders: options.listSessionFolders,
      ...{ positions: options.positions, settingsFile: options.settingsFile },
    });
    if (watched === null) return;
    const { hives, services = [] } = watched;
    const { createWatchers, watchers, supervisor } = options;
    const group = createHiveGroup({
      ...{ hives, services, createWatchers, supervisor, put },
      ...{ all: watchers, clock: machine.clock },
    });
    opened.set(source.name, { watched, group, handles });
  }

  function readOwn(source: SourceRow): SourceSettings {
    const own = Object.keys(source.settings).map((key) => [key, settings[key as keyof Settings]]);
    return Object.fromEntries(own) as SourceSettings;
  }

  async function reopen(source: SourceRow): Promise<void> {
    const before = opened.get(source.name);
    opened.delete(source.name);
    await before?.group.stop();
    for (const handle of before?.handles ?? []) {
      await handle.release();
      handle.leave();
    }
    await before?.watched[Symbol.asyncDispose]();
    await open(source);
    const now = opened.get(source.name);
    before?.group.giveWayTo(now?.watched.hives ?? []);
    now?.group.start();
  }

  return {
    start: () => {
      for (const { group } of opened.values()) group.start();
    },
    async follow(changed, scope) {
      for (const source of sources) {
        const isOther = Object.keys(source.settings).some((key) => changed.has(key));
        const { follow } = opened.get(source.name)?.watched ?? {};
        if (isOther && follow !== undefined && scope !== 'all') await follow(readOwn(source));
        else if (isOther || scope === 'all' || (scope === 'names' && source.prefix === null && follow === undefined))
          await reopen(source);
      }
    },
    poll: () => {
      for (const source of all()) source.poll?.();
    },
    findSessions: (persona) => all().flatMap((source) => source.findSessions?.(persona) ?? []),
    findPage: (persona) =>
      all()
        .map((source) => source.findPage?.(persona))
        .find((page) => page != null) ?? null,
    findSessionOwner: (id) =>
      all()
        .map((source) => source.findSessionOwner?.(id))
        .find((owner) => owner != null) ?? null,
    metrics: () => all().flatMap((source) => source.metrics?.() ?? []),
    projects: (name) => opened.get(name)?.watched.projects?.() ?? [],
    async act(name, action, params, signal) {
      const source = opened.get(name)?.watched;
      if (source?.act === undefined)
        throw new Fault('usage', `${name} is switched off in the settings`, { is: 'machine', key: 'action' });
      return await source.act(action, params, signal);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all().map((source) => source[Symbol.asyncDispose]()));
    },
  };
}

function watch(hive: WatchedHive, { createWatchers, watchers, supervisor }: SourcesOptions): HiveHandle {
  const added = createWatchers(hive);
  watchers.push(added);
  const running = supervisor.add(added);
  return {
    async release() {
      await running[Symbol.asyncDispose]();
      const at = watchers.indexOf(added);
      if (at >= 0) watchers.splice(at, 1);
    },
    leave: added.leave,
  };
}

function toEnvironment(settings: Settings, machine: Machine, secrets: readonly string[] = []): SourceEnvironment {
  const { disk, clock, log, stop } = machine;
  return {
    env: hideSecrets(machine, secrets).env,
    ...{ disk, clock, log, stop, version: readVersion(), reservedIds: listReservedIds(settings) },
  };
}

/**
 * Hides the tokens in the environment from everything that starts programs, because only the source that a token is for may have
 * it (Kijito contract D12). It is a view and not a copy, since on Windows a copy would know `Path` and not `PATH`.
 *
 * @param except variables that stay visible
 */
export function hideSecrets(machine: Machine, except: readonly string[] = []): Machine {
  const hidden = SECRET_VARIABLES.filter((name) => !except.includes(name));
  const isSecret = (key: string | symbol): boolean => typeof key === 'string' && hidden.includes(key.toUpperCase());
  const env = new Proxy(machine.env, {
    get: (target, key) => (isSecret(key) ? undefined : Reflect.get(target, key)),
    has: (target, key) => !isSecret(key) && Reflect.has(target, key),
    ownKeys: (target) => Reflect.ownKeys(target).filter((key) => !isSecret(key)),
  });
  return { ...machine, env };
}

/** Stands for no process, since no process has this number. */
const NO_PROCESS = { pid: 2 ** 30, startKey: 'none' };

/** Converts a session that another system keeps to the form of an announced one. */
export function toSession({ tmux, ...native }: NativeSession): Session {
  const server = tmux === undefined ? null : parseTmuxServer(tmux.server);
  const pane =
    tmux === undefined || server === null || !/^%\d{1,9}$/.test(tmux.pane) ? null : { ...server, pane: tmux.pane };
  return { ...native, pane, runner: NO_PROCESS, announcedAt: 0, endedAt: 0 };
}
