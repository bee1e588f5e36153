import { basename, dirname, isAbsolute, join } from 'node:path';
import {
  type DaemonConfig,
  type DaemonName,
  type DaemonPlaces,
  type DaemonStatus,
  LOCAL,
  readDaemonConfig,
  toJoinedName,
} from '../../link/index.ts';
import {
  AGENT_STATE_NOT_REPORTED,
  type AgentState,
  exactly,
  Fault,
  type Instant,
  toFault,
  UNKNOWN,
} from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Disk, getErrno } from '../../state/index.ts';
import { type DirectoryObserver, watchDirectories } from '../directories.node.ts';
import type { Persona, PollResult, Source } from '../source.ts';
import { createTimers, cut } from '../source-tools.ts';
import {
  createMetricsReader,
  type DaemonMetric,
  type MetricsReaderOptions,
  mergeExports,
  toChangeKey,
} from './metrics.ts';
import { DAEMON_PREFIX, DAEMON_SOURCE } from './settings.ts';

export interface DaemonSourceOptions extends MetricsReaderOptions {
  /** The directory in which daemons are installed. */
  readonly daemons: string;
  readonly findPlaces: (daemon: DaemonName) => DaemonPlaces;
  /** Asks for the status over the control socket. @throws Fault `daemon-gone` when nobody answers on the socket */
  readonly ask: (places: DaemonPlaces, signal: AbortSignal) => Promise<DaemonStatus>;
  /** Called with the status of each poll; null when the daemon did not answer. */
  readonly onStatus: (persona: Persona, status: DaemonStatus | null, at: Instant) => void;
  /** Calls `changed` with the address of each inbox of the local hive that changed. */
  readonly local?: (changed: (address: string) => void) => Disposable;
  readonly stalledAfterMs?: number;
}

/** The persona daemons of this machine as a source. */
export interface DaemonSource extends Source {
  /** A daemon as a persona, also when it is not installed, or not any more. */
  named(name: string): Persona;
  /** The exports of all daemons in one exposition. A daemon that is gone appears with `daemon_up 0`. */
  metrics(): readonly DaemonMetric[];
}

interface KnownDaemon {
  readonly config: DaemonConfig;
  /** Its configuration as text. It differs when the daemon is installed in another way. */
  readonly text: string;
}

const WAKE_AFTER_MS = 20;
/** The daemon hears of the delivery when we do, and then asks how many signals wait. */
const DELIVERED_AFTER_MS = 100;
/** A daemon that is connecting is polled again after this time. */
const RETRY_MS = 2000;
const LABEL_CHARS = 80;

/**
 * A source whose personas are the persona daemons, read over their control sockets: how many signals wait, and the agent state.
 * It has counts only and no messages. The daemon's surface fetches what waits, and the hive that holds the mail delivers it.
 */
export function createDaemonSource(options: DaemonSourceOptions): DaemonSource {
  const { daemons, findPlaces, ask, onStatus, disk, clock, stalledAfterMs } = options;
  const metricsReader = createMetricsReader(options);
  const labels = new Map<string, string>();
  const waits = new Map<string, Waits>();
  /** The change key of each daemon's last export. */
  const lastChangeKeys = new Map<string, string>();
  /** The installed daemons, as of the last listing. Null: the configuration is not valid. */
  const installed = new Map<string, KnownDaemon | null>();
  let wasRead = false;
  let wakes: ((name: string) => void) | null = null;
  let changes: DaemonChanges | null = null;
  let watched: ReadonlyMap<string, DaemonPlaces | null> = new Map();
  const timers = createTimers(clock);

  const named = (name: string): Persona => ({
    ...{ id: `${DAEMON_PREFIX}${name}`, address: name },
    label: labels.get(name) ?? name,
    isEcho: installed.get(name)?.config.upstream === LOCAL, // the persona of the local hive has the same mail
  });

  function readConfig(name: string): DaemonConfig | null {
    const config = readInstalled(disk, daemons, name);
    if (config === null) forget(name);
    else {
      labels.set(name, formatLabel(config));
      const text = JSON.stringify(config);
      if (installed.get(name)?.text !== text) installed.set(name, { config, text });
    }
    return config;
  }

  /** A directory that cannot be read concerns every daemon alike, so it is one cause. @throws Fault */
  function readConfigForPoll(name: string): DaemonConfig | null {
    try {
      return readConfig(name);
    } catch (error) {
      listInstalledNames(disk, daemons, DAEMON_SOURCE); // throws when the directory is the cause, and not this daemon
      throw error;
    }
  }

  /** Configurations by name; null for one that is not valid, which the poll of that daemon reports. */
  function list(): ReadonlyMap<string, DaemonConfig | null> {
    const configs = new Map<string, DaemonConfig | null>();
    const places = new Map<string, DaemonPlaces | null>();
    for (const name of listInstalledNames(disk, daemons, DAEMON_SOURCE)) {
      places.set(name, null); // the configuration may still be written
      try {
        const config = readConfig(name);
        if (config === null) continue;
        configs.set(name, config);
        places.set(name, findPlaces(config));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        configs.set(name, null);
        installed.set(name, null);
      }
    }
    wasRead = true;
    for (const name of installed.keys()) if (!configs.has(name)) forget(name);
    watched = places;
    changes?.follow(watched);
    return configs;
  }

  function forget(name: string): void {
    installed.delete(name);
    for (const memory of [labels, waits, lastChangeKeys]) memory.delete(name);
    metricsReader.forget(name);
  }

  /** Wakes only daemons that are still installed: files that a removed daemon left behind may still change. */
  function wakeSoon(ms: number, name: string): void {
    timers.schedule(ms, name, () => {
      if (installed.has(name)) wakes?.(name);
    });
  }

  /** Wakes the daemons that were added or removed, or are installed in another way now. */
  function refreshInstalled(): void {
    const before = new Map(installed);
    try {
      list();
    } catch {
      for (const name of before.keys()) wakes?.(name); // their polls report what is wrong
    }
    for (const [name, known] of installed) if (before.get(name) !== known) wakes?.(name);
    for (const name of before.keys()) if (!installed.has(name)) wakes?.(name);
  }

  /** A daemon exports every 10 s. It is polled only when another number of signals waits, or an error came. */
  function checkExport(name: string): void {
    const known = installed.get(name) ?? null;
    if (known === null) return;
    const now = toChangeKey(metricsReader.read(known.config, findPlaces(known.config)));
    if (now === lastChangeKeys.get(name)) return;
    lastChangeKeys.set(name, now);
    wakes?.(name);
  }

  function onDelivered(address: string): void {
    for (const [name, known] of installed)
      if (known !== null && known.config.upstream === LOCAL && known.config.address === address)
        wakeSoon(DELIVERED_AFTER_MS, name);
  }

  async function poll(persona: Persona, signal: AbortSignal): Promise<PollResult> {
    const name = persona.address;
    const emptyResult = { urgent: UNKNOWN, evidence: { is: 'level' } } as const;
    const config = readConfigForPoll(name);
    if (config === null)
      return { ...emptyResult, at: clock.now(), unread: exactly(0), agentState: AGENT_STATE_NOT_REPORTED };
    let status: DaemonStatus;
    try {
      status = await ask(findPlaces(config), signal);
    } catch (error) {
      if (!signal.aborted) onStatus(persona, null, clock.now());
      if (!config.paused || !(error instanceof Fault) || error.code !== 'daemon-gone') throw error;
      return { ...emptyResult, at: clock.now(), unread: UNKNOWN, agentState: { is: 'gone', why: 'paused' } };
    }
    const at = clock.now();
    onStatus(persona, status, at);
    const waiting = updateWaits(waits.get(name) ?? { is: 'never' }, status, at);
    waits.set(name, waiting);
    const { pending } = status;
    // The daemon reports the change only with its next export, and only if its numbers differ then.
    if (!pending.fresh && wakes !== null) wakeSoon(RETRY_MS, name);
    const unread = pending.fresh ? exactly(pending.count) : UNKNOWN;
    const state = toAgentState(status, waiting, at, stalledAfterMs);
    const agentState = isAbsolute(status.project) ? { ...state, cwd: status.project } : state;
    return { ...emptyResult, at, unread, agentState };
  }

  return {
    id: DAEMON_SOURCE,
    kind: DAEMON_SOURCE,
    personas: async () => [...list().keys()].map(named),
    poll: (persona, _from, signal) => poll(persona, signal),
    isGone: ({ address }) => wasRead && !installed.has(address),
    hints(wake) {
      wakes = wake;
      changes = watchDaemons(daemons, clock, {
        installed: () => timers.schedule(WAKE_AFTER_MS, 'installed', refreshInstalled),
        process: (name) => wakeSoon(WAKE_AFTER_MS, name),
        exported: checkExport,
      });
      changes.follow(watched);
      const local = options.local?.(onDelivered) ?? null;
      timers.schedule(WAKE_AFTER_MS, 'installed', refreshInstalled); // what was installed since the personas were listed
      return {
        [Symbol.dispose]() {
          wakes = null;
          local?.[Symbol.dispose]();
          changes?.[Symbol.dispose]();
          changes = null;
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    metrics() {
      try {
        list();
      } catch {
        // The board shows what cannot be listed; the known daemons are exported as before.
      }
      return mergeExports(
        [...installed.values()].flatMap((known) =>
          known === null ? [] : [metricsReader.read(known.config, findPlaces(known.config))],
        ),
      );
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** `<identity> · <project>`. A project may be a path, of which the last folder says enough. The folder is cleaned and cut. */
function formatLabel({ identity, project }: DaemonConfig): string {
  const folder = project.split(/[/\\]/).findLast((part) => part !== '') ?? project;
  const cleanFolder = folder.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  return `${identity} · ${cut(cleanFolder, LABEL_CHARS)}`;
}

/** The shape of a joined name. Other entries of that directory are no daemons. */
const NAME = /^[a-z0-9-]{3,65}$/;

/** The names of directories in which a daemon is installed, or is about to be. @throws Fault `unreadable` */
function listInstalledNames(disk: Disk, dir: string, source: string): readonly string[] {
  try {
    return disk.files.readdir(dir).filter((name) => NAME.test(name));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    const scope = { is: 'source', key: source } as const;
    throw new Fault('unreadable', toFault(error, scope).message, scope, { cause: error });
  }
}

/** The configuration of an installed daemon; null when none has this name. @throws Fault `daemon-config` or `unreadable` */
function readInstalled(disk: Disk, dir: string, name: string): DaemonConfig | null {
  const config = join(dir, name, 'daemon.json');
  const read = readDaemonConfig(disk, { config });
  if (read === null || toJoinedName(read) === name) return read;
  const message = `${config} belongs to the daemon ${toJoinedName(read)}, whose name differs from its directory`;
  throw new Fault('daemon-config', message, { is: 'machine', key: `file:${config}` });
}

interface DaemonListener {
  /** The set of installed daemons, or the configuration of one, may have changed. */
  installed(): void;
  /** The process may have started or ended, or may be another one. */
  process(name: string): void;
  /** The daemon exported its metrics. */
  exported(name: string): void;
}

/** Reports changes of the daemons. It modifies none of their files. */
interface DaemonChanges extends Disposable {
  /** Watches exactly these daemons from now on. Null: the configuration cannot be read, so no process is known to watch. */
  follow(daemons: ReadonlyMap<string, DaemonProcessPlaces | null>): void;
}

type DaemonProcessPlaces = Pick<DaemonPlaces, 'runtime' | 'socket' | 'token' | 'metrics'>;

/** Watches the directory of installed daemons, each configuration in it, and the runtime directory of each daemon. */
function watchDaemons(dir: string, clock: Clock, listener: DaemonListener): DaemonChanges {
  const directories = watchDirectories({ clock, statOnly: false });
  const followed = new Map<string, { readonly runtime: string | null; readonly stack: DisposableStack }>();
  const processes = new Map<string, DirectoryObserver>();
  const parents = new Set<string>();
  directories.add(dir, () => listener.installed(), 'always');

  function watchDaemon(name: string, places: DaemonProcessPlaces | null): DisposableStack {
    const stack = new DisposableStack();
    const onConfigChange = (file: string | null): void => {
      if (file === null || file === 'daemon.json') listener.installed();
    };
    stack.use(directories.add(join(dir, name), onConfigChange, 'deaf'));
    if (places === null) return stack;
    const { runtime, socket, token, metrics } = places;
    const onRuntimeChange = (file: string | null): void => {
      const path = file === null ? null : join(runtime, file);
      if (path === metrics) listener.exported(name);
      else if (path === null || path === socket || path === token) listener.process(name);
    };
    const folder = stack.use(directories.add(runtime, onRuntimeChange, 'always'));
    processes.set(runtime, folder);
    stack.defer(() => processes.delete(runtime));
    watchParent(dirname(runtime));
    return stack;
  }

  /** A process creates its runtime directory when it starts. */
  function watchParent(parent: string): void {
    if (parents.has(parent)) return;
    parents.add(parent);
    const onParentChange = (name: string | null): void => {
      for (const [runtime, directory] of processes)
        if (dirname(runtime) === parent && (name === null || name === basename(runtime))) directory.renew();
    };
    directories.add(parent, onParentChange, 'always');
  }

  return {
    follow(daemons) {
      for (const [name, { runtime, stack }] of followed) {
        const places = daemons.get(name);
        if (places !== undefined && (places?.runtime ?? null) === runtime) continue;
        stack.dispose();
        followed.delete(name);
      }
      for (const [name, places] of daemons) {
        if (!followed.has(name))
          followed.set(name, { runtime: places?.runtime ?? null, stack: watchDaemon(name, places) });
      }
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      followed.clear();
    },
  };
}

/** What a source may report about a persona daemon (persona daemon, contract 5). */
type DaemonReason =
  /** Somebody ended its process on purpose, and nobody restarts it. */
  | 'paused'
  /** Its stream to the upstream is broken, so its last counts may be old. */
  | 'upstream-unreachable'
  /** It is asking the upstream what is pending. */
  | 'reconciling'
  | 'heartbeat-late'
  /** It lives and rings, but nothing is fetched. */
  | 'drain-stalled'
  | 'surface-unavailable'
  /** It gave up, because its configuration, its token or its shim is unusable. */
  | 'daemon-failed';

/** A daemon is stalled when signals wait at the upstream for this long and nobody fetches them (persona daemon, contract 6). */
const STALLED_AFTER_MS = 600_000;
/** An older heartbeat counts as missing: the upstream asks for one much more often. */
const HEARTBEAT_LATE_S = 120;

type DaemonState = AgentState & { readonly why?: DaemonReason };

/** Since when signals wait without a pause, as far as polls saw it. `never`: there was no poll yet. */
export type Waits = { readonly is: 'never' | 'empty' } | { readonly is: 'since'; readonly at: Instant };

/**
 * The last drain may be long ago only because nothing came; signals that arrive then are not stalled at once.
 * For signals that waited before the first poll, only the age of the drain is known, so that age alone counts.
 */
export function updateWaits(before: Waits, { pending }: Pick<DaemonStatus, 'pending'>, at: Instant): Waits {
  if (!pending.fresh) return before;
  if (pending.count === 0) return { is: 'empty' };
  if (before.is === 'since') return before;
  return { is: 'since', at: before.is === 'never' ? Number.NEGATIVE_INFINITY : at };
}

/** Turns a daemon's status into the agent state. Whether the daemon answers at all is health and not decided here. */
export function toAgentState(
  status: DaemonStatus,
  waits: Waits,
  at: Instant,
  stalledAfterMs = STALLED_AFTER_MS,
): DaemonState {
  const { fsm, taxonomy, heartbeat_age_s: heartbeat, drain_age_s: drain, pending, degraded } = status;
  const isConnected = fsm === 'CONNECTED' || fsm === 'EMITTING';
  if (!isConnected && taxonomy === 'failed') return { is: 'unknown', why: 'daemon-failed' };
  if (fsm === 'DISCONNECTED') return { is: 'unknown', why: 'upstream-unreachable' };
  if (fsm === 'RECONCILING') return { is: 'unknown', why: 'reconciling' };
  if (heartbeat !== null && heartbeat > HEARTBEAT_LATE_S) return { is: 'unknown', why: 'heartbeat-late' };
  const waitedMs = waits.is === 'since' ? Math.min(at - waits.at, drain * 1000) : 0;
  if (pending.fresh && pending.count > 0 && waitedMs >= stalledAfterMs) return { is: 'stalled', why: 'drain-stalled' };
  if (taxonomy === 'failed') return { is: 'unknown', why: 'daemon-failed' };
  if (degraded !== null) return { is: 'unknown', why: 'surface-unavailable' };
  return { is: 'live' };
}
