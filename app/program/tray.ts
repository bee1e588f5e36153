import { join } from 'node:path';
import { createBoard } from '../../core/board/index.ts';
import { openHistory } from '../../core/history/index.ts';
import { openLocalHive, sealAll } from '../../core/inbox/index.ts';
import { type DaemonName, findOwnDaemonPlaces } from '../../core/link/index.ts';
import { Fault, toFault } from '../../core/model/index.ts';
import { type Service, supervise, untilAborted } from '../../core/services/index.ts';
import { openOutbox, toEventFilePath } from '../../core/sinks/outbox/index.ts';
import type { WatchedHive } from '../../core/sources/watched-hive.ts';
import {
  type Dirs,
  ensurePrivateDir,
  formatStoreReport,
  isDamage,
  openRetentionClock,
  openStore,
  readStoreReport,
  refuseWrites,
  toStem,
  writeStoreReport,
} from '../../core/state/index.ts';
import { detectInterruptions } from '../../core/watch/index.ts';
import { createActions, openPreferenceStore } from '../actions/index.ts';
import { openSettings, type Settings } from '../config/tray/index.ts';
import { createDaemonsService } from '../daemon/daemons-service.ts';
import { startUpstreamService } from '../daemon/upstream-service.ts';
import { createHookInstaller, watchChanged } from '../hook/index.ts';
import { createDiskSpaceService, findDiskFault } from '../host/disk-space-service.ts';
import { claimInstance, type Instance, type RunningInstance } from '../host/instance.ts';
import type { Machine } from '../host/machine.ts';
import { copyToAnotherDisk } from '../host/memory-copy.node.ts';
import { createRestService } from '../host/rest-service.ts';
import { createStoreCopy } from '../host/store-copy-service.node.ts';
import { createDecisionsService } from '../local/decisions-service.ts';
import { greet } from '../local/greeting.ts';
import { createHookStampsService } from '../local/hook-stamps-service.ts';
import { createNudgeService, toNudgeWays } from '../local/nudge-service.ts';
import { createQueueService } from '../local/queue-service.ts';
import { createQuietHoursService } from '../local/quiet-hours-service.ts';
import { createRelayService } from '../local/relay-service.ts';
import { createRepairService } from '../local/repair-service.ts';
import { createRetentionService } from '../local/retention-service.ts';
import { resolveOwnerSocketPath } from '../owner-socket.ts';
import { readVersion } from '../package.node.ts';
import { createOwnLoginStart } from '../service/index.ts';
import { catchUpAfterInterruptions } from '../sources/catch-up.ts';
import { createHiveWatchers, type HiveWatchers, type SavedTrayState } from '../sources/hive-watchers.ts';
import { createLocalIdLookup, openLocal } from '../sources/local-hive.ts';
import { decidePrimary, hideSecrets, openSources } from '../sources/open-sources.ts';
import { loadPage, startStatusServer } from '../status/index.ts';
import { listInstalledUnits } from './installed-units.ts';
import { createStartupBuffer } from './startup-buffer.ts';
import { reconcileStore } from './store-reconciliation.ts';
import { type Surfaces, startSurfaces } from './surfaces.ts';
import { createTrayControls } from './tray-controls.ts';

/** Command line options that override the settings. */
export interface TrayPlan {
  readonly port: number | null;
  readonly tray: Settings['tray'] | null;
  readonly notifications: boolean;
  /** Whether to open the status page once it is served. */
  readonly open: boolean;
}

export type TrayEnd = { readonly is: 'stopped' } | { readonly is: 'taken'; readonly by: RunningInstance | null };

/** The truth of this machine: mail, outbox, checkpoints, announcements, mutes. */
const DATABASE = 'hivebar.sqlite';
/** Holds what the outbox was just given and has not written to the database yet. */
const JOURNAL = 'outbox.journal';
/** The history. It is derived, so it may be deleted at any time. */
const HISTORY = 'history.sqlite';
/**
 * Facts are folded into the snapshot after this delay, or earlier when a reader asks. Events are written to their files first.
 */
const FOLD_AFTER_MS = 20;
const DAMAGED = { is: 'machine', key: 'damaged-messages' } as const;
const DAY_MS = 86_400_000;
const NO_COPY_MS = 2000;
/** How long a recovery is shown before everything starts again. */
const RECOVERY_SHOWN_MS = 1500;

/**
 * Runs the tray process, which watches every hive and has one board and all surfaces. Returns when it is asked to stop.
 * @throws Fault for whatever prevents the start: settings, database, port
 */
export async function runTray(plan: TrayPlan, dirs: Dirs, machine: Machine): Promise<TrayEnd> {
  for (const dir of [dirs.state, dirs.config]) ensurePrivateDir(machine.disk, dir);
  const claim = claimInstance(dirs.run, machine);
  if (claim.is === 'taken') return claim;
  using instance = claim.instance;
  let isChecked = false;
  for (;;) {
    const fault = findDiskFault(machine, dirs.state);
    const isFull = fault?.code === 'no-space';
    const end = isFull
      ? await runReadOnly(plan, dirs, machine, instance, fault)
      : await runWhole(plan, dirs, machine, instance, isChecked);
    if (end === 'stopped') return { is: 'stopped' };
    if (end === 'damaged') isChecked = true;
  }
}

/**
 * Runs with a store that can be written. Returns `damaged` when the store is found damaged; the next start then reads all of it
 * and recovers what can be read.
 * With `isChecked` this process has done that already and does not do it again.
 */
async function runWhole(
  plan: TrayPlan,
  dirs: Dirs,
  machine: Machine,
  instance: Instance,
  isChecked: boolean,
): Promise<'stopped' | 'space' | 'damaged'> {
  const damage = new AbortController();
  const onDamage = (): void => {
    if (isChecked || damage.signal.aborted) return;
    machine.log.error(
      `${join(dirs.state, DATABASE)} is damaged: all of it is checked now, and what can be read is recovered`,
    );
    damage.abort();
  };
  const stop = AbortSignal.any([machine.stop, damage.signal]);
  try {
    const end = await run(plan, dirs, { ...machine, stop }, instance, null, onDamage);
    return damage.signal.aborted && !machine.stop.aborted ? 'damaged' : end;
  } catch (error) {
    if (damage.signal.aborted && error instanceof Fault && isDamage(error)) return 'damaged';
    throw error;
  }
}

/**
 * Runs while nothing can be written: shows the last known state, accepts nothing, and ends as soon as there is room on the disk.
 */
async function runReadOnly(
  plan: TrayPlan,
  dirs: Dirs,
  machine: Machine,
  instance: Instance,
  fault: Fault,
): Promise<'stopped' | 'space'> {
  const { clock, log, stop } = machine;
  log.error(`hivebar starts read-only: ${fault.explain()}`);
  using copy = copyToAnotherDisk(dirs.state, [DATABASE, `${DATABASE}-wal`, JOURNAL]);
  if (copy !== null) return await run(plan, dirs, machine, instance, { state: copy.directory, fault });
  log.error('Hivebar waits until the disk has free space');
  while (!stop.aborted && findDiskFault(machine, dirs.state) !== null) await clock.sleep(NO_COPY_MS, stop);
  return stop.aborted ? 'stopped' : 'space';
}

/** A copy of the state that is read instead of the original, and the fault that requires it. */
interface ReadOnly {
  readonly state: string;
  readonly fault: Fault;
}

async function run(
  plan: TrayPlan,
  real: Dirs,
  machine: Machine,
  instance: Instance,
  readOnly: ReadOnly | null = null,
  onDamage: () => void = () => {},
): Promise<'stopped' | 'space'> {
  const { disk, clock, random, log } = machine;
  const dirs: Dirs = readOnly === null ? real : { ...real, state: readOnly.state };
  const file = openSettings(dirs.config);
  const configured = applyPlan(file.settings, plan);
  const settings = readOnly === null ? configured : removeRelay(configured);
  using truth = openStore(join(dirs.state, DATABASE), { checks: readOnly === null, onDamage });
  // The outbox may write to the copy, since nobody else reads that. All other writes would lose something that a person or an
  // agent entered.
  using db = readOnly === null ? truth : refuseWrites(openStore(join(dirs.state, DATABASE)), readOnly.fault);
  // Declared after both stores, so that the last copy is made before either is closed.
  using copy =
    readOnly === null ? createStoreCopy(truth, { clock, log, put: (fact) => board.put(fact), onDamage }) : null;
  const retention = openRetentionClock(truth, clock);
  const board = createBoard(log, (run) => void clock.after(FOLD_AFTER_MS, run));
  const onDamaged = (count: number): void => {
    const fault = new Fault('store-damaged', `${count} messages in ${db.path} are damaged`, DAMAGED);
    board.put({ is: 'machine', at: clock.now(), key: DAMAGED.key, fault });
  };
  using local = openLocalHive({ db, clock, log, contentChars: settings.contentChars, onDamaged });
  if (readOnly === null) sealAll(db);
  const report = readStoreReport(db.path);
  if (report !== null) {
    const fault = new Fault('store-damaged', formatStoreReport(db.path, report), { is: 'machine', key: 'store' });
    log.error(fault.explain());
    board.put({ is: 'machine', at: clock.now(), key: fault.scope.key, fault });
  }
  using history = openHistory({
    path: join(dirs.state, HISTORY),
    files: disk.files,
    clock,
    log,
    keepDays: settings.historyDays,
    retentionNow: retention.now,
  });
  using _remembers = board.facts(history.hear);
  const directory = join(dirs.state, 'events');
  using outbox = openOutbox<SavedTrayState>({
    db: truth,
    disk,
    clock,
    clocks: machine.clocks,
    directory,
    journal: join(dirs.state, JOURNAL),
    retentionNow: retention.now,
    rotation: { maxBytes: settings.eventsMaxBytes, keep: settings.eventsKeep },
    onBehind: (persona, fault) => {
      if (fault === null) log.info(`${persona}: its event file is up to date again`);
      else log.warn(`${persona}: its event file is behind; the events are safe: ${fault.explain()}`);
      board.put({ is: 'published', at: clock.now(), persona, fault });
    },
  });

  const stop = new AbortController();
  const stopping = { ...machine, stop: stop.signal };
  if (machine.stop.aborted) stop.abort();
  machine.stop.addEventListener('abort', () => stop.abort(), { once: true });
  const { primary, isFirstRun } = await decidePrimary(file, stopping);
  if (isFirstRun && primary.is === 'local' && readOnly === null)
    await greet(local, (id) => toEventFilePath(directory, toStem(id)));
  const runId = random.hex(8);
  using interruptions = detectInterruptions(clock);
  const { isSettling: settling } = interruptions;
  const ownHive = openLocal(local, { ...settings, primary }, clock);
  if (readOnly === null) {
    const { contentChars } = settings;
    const recoveredSince = report === null || report.isFilled ? null : clock.now() - settings.keepMailDays * DAY_MS;
    reconcileStore({
      ...{ db, local, hive: ownHive, outbox, state: dirs.state, contentChars, recoveredSince },
      machine: stopping,
    });
    if (report !== null) writeStoreReport(db.path, { ...report, isFilled: true });
  }
  const createWatchers = (hive: WatchedHive, savedStates: ReadonlyMap<string, SavedTrayState>): HiveWatchers =>
    createHiveWatchers({
      hive,
      settings,
      outbox,
      directory,
      savedStates,
      board,
      machine: stopping,
      run: runId,
      settling,
    });
  const watchers: HiveWatchers[] = [];
  await using supervisor = supervise({
    clock,
    log,
    report: (service, fault) => board.put({ is: 'machine', at: clock.now(), key: `service:${service}`, fault }),
  });
  await using sources = await openSources(
    {
      ...{ settings: { ...settings, primary }, local, state: dirs.state, put: board.put, watchers, supervisor },
      createWatchers: (hive) => createWatchers(hive, outbox.readAllSaved()), // one that was released has newer saved states
      isReadOnly: readOnly !== null,
    },
    stopping,
  );
  const savedStates = outbox.readAllSaved();
  const fixedHives = sources.all.flatMap((source) => source.hives);
  fixedHives.splice(primary.is === 'local' ? 0 : 1, 0, ownHive); // the primary hive is the first
  watchers.push(...fixedHives.map((hive) => createWatchers(hive, savedStates)));
  const fixedWatchers = [...watchers];
  using _gaps = catchUpAfterInterruptions({ interruptions, watchers, put: board.put, log });

  const preferences = openPreferenceStore(db);
  for (const { persona, until } of preferences.mutes()) board.put({ is: 'muted', at: clock.now(), persona, until });
  for (const persona of preferences.hidden()) board.put({ is: 'hidden', at: clock.now(), persona, hidden: true });
  const quietHours = createQuietHoursService({ hours: settings.quietHours ?? null, preferences, board, clock });
  let surfaces: Surfaces | null = null;
  const requireSurfaces = (): Surfaces => {
    if (surfaces !== null) return surfaces;
    throw new Fault('usage', 'hivebar is still starting: try again in a moment', { is: 'machine', key: 'action' });
  };
  const decisions = createDecisionsService(
    { db, local, state: dirs.state, board, toPersonaId: createLocalIdLookup(ownHive) },
    stopping,
  );
  const isWhole = readOnly === null;
  using upstream = startUpstreamService({ db, local, dirs }, stopping);
  const hiveChanged = (): void => {
    local.changedElsewhere();
    upstream.registrations.refresh();
    decisions.wake();
  };
  using _changed = watchChanged(dirs.run, {
    clock,
    heard: hiveChanged,
    failed: (why) => log.warn(`changes by hooks are seen only at the next poll: ${dirs.run} cannot be watched: ${why}`),
  });
  const login = createOwnLoginStart(hideSecrets(machine));
  const controls = createTrayControls({
    ...{ board, clock, watchers, sources, preferences, quietHours, login, hiveChanged },
    decisions: decisions.decisions,
    surfaces: requireSurfaces,
    quit: () => stop.abort(),
  });
  const actions = createActions(controls, clock);

  let hasRoom = false;
  using early = createStartupBuffer(board);
  const fits = readOnly === null ? {} : { onSpace: () => void leaveReadOnly() };
  const start = (...services: readonly Service[]): void => services.forEach(supervisor.add);
  start(quietHours, decisions.numbers, decisions);
  if (isWhole) {
    start(
      createQueueService({ db, local, dirs }, stopping),
      createHookStampsService(db, dirs, stopping),
      createNudgeService({ db, local, dirs, ways: toNudgeWays(settings) }, stopping),
    );
  }
  start(createDiskSpaceService({ state: real.state, board, ...fits }, stopping), ...fixedWatchers);
  start(...sources.all.flatMap(({ services = [] }) => services));
  try {
    await using status = await startStatusServer({
      board,
      hive: local,
      decisions: decisions.decisions,
      projects: sources.projects,
      signals: upstream,
      keys: upstream.keys,
      sourceMetrics: sources.metrics,
      actions,
      events: outbox,
      history,
      page: loadPage(),
      token: instance.token,
      tokenEverywhere: settings.tokenEverywhere,
      port: settings.port,
      socketPath: resolveOwnerSocketPath(machine.os, dirs.run, disk.uid),
      version: readVersion(),
      instance: { id: instance.id, pid: machine.pid },
      clock,
      log,
    });
    instance.publish(status.port);
    log.info(`hivebar ${readVersion()} is running: ${status.urls[0]} (pid ${machine.pid})`);
    await using started = await startSurfaces({
      settings,
      board,
      startupBuffer: early,
      db,
      actions,
      port: status.port,
      createOnceLink: status.createOnceLink,
      findNativeSessions: sources.findSessions,
      runDirectory: dirs.run,
      config: dirs.config,
      machine: hideSecrets(stopping),
    });
    surfaces = started;
    void tellAutostart();
    if (plan.open)
      await actions
        .get('page')
        ?.run({}, stopping.stop)
        .catch((error: unknown) => log.warn(String(error)));
    using _poke = machine.onPoke(() => controls.poll(null));
    start(createRestService(outbox, stopping));
    if (isWhole) {
      const daemonsDirectory = join(dirs.state, 'daemons');
      const findPlaces = (daemon: DaemonName) => findOwnDaemonPlaces(daemon, machine.env);
      const daemons = () => listInstalledUnits(daemonsDirectory, machine);
      start(
        ...(copy?.services ?? []),
        createRepairService({ hooks: createHookInstaller(machine.env), login, daemons, put: board.put }, stopping),
        createDaemonsService({ directory: daemonsDirectory, findPlaces }, hideSecrets(stopping)),
        createRelayService({ settings, db, local, board, interruptions }, stopping),
        createRetentionService(
          { local, decisions: decisions.decisions, retention, keepMailDays: settings.keepMailDays },
          stopping,
        ),
      );
    }
    await untilAborted(stopping.stop);
  } finally {
    stop.abort();
    await supervisor[Symbol.asyncDispose]();
  }
  return hasRoom && !machine.stop.aborted ? 'space' : 'stopped';

  /** Ends the read-only mode, after the recovery was shown. */
  async function leaveReadOnly(): Promise<void> {
    if (hasRoom) return;
    hasRoom = true;
    await clock.sleep(RECOVERY_SHOWN_MS, stop.signal);
    stop.abort();
  }

  /** Asks the system whether Hivebar starts at login, which may take a while, and puts the answer on the board. */
  async function tellAutostart(): Promise<void> {
    try {
      board.put({ is: 'autostart', at: clock.now(), on: await login.state() });
    } catch (error) {
      log.info(
        `whether it starts at login cannot be told: ${toFault(error, { is: 'machine', key: 'autostart' }).message}`,
      );
    }
  }
}

/** In read-only mode the relay waits for room, because nothing that it delivers could be saved. */
function removeRelay({ nats: _, ...settings }: Settings): Settings {
  return settings;
}

function applyPlan(settings: Settings, plan: TrayPlan): Settings {
  return {
    ...settings,
    port: plan.port ?? settings.port,
    tray: plan.tray ?? settings.tray,
    notifications: settings.notifications && plan.notifications,
  };
}
