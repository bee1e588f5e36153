import { parseEventLine } from '../../core/events/index.ts';
import { type Service, supervise, untilAborted } from '../../core/services/index.ts';
import { toEventFilePath } from '../../core/sinks/outbox/index.ts';
import type { SettingsAccess } from '../../core/sources/module.ts';
import { type Dirs, ensurePrivateDir, toStem } from '../../core/state/index.ts';
import { detectInterruptions } from '../../core/watcher/index.ts';
import { createActions, openPreferenceStore, reportPreferences } from '../actions/index.ts';
import { createLiveSettings, getSettingsPath, openSettings, type Settings } from '../config/tray/index.ts';
import { startUpstreamService } from '../daemon/upstream-service.ts';
import { listPersonaForms, watchChanged } from '../hook/index.ts';
import { openDevices } from '../host/devices.ts';
import { createDiskSpaceService } from '../host/disk-space-service.ts';
import { claimInstance, type Instance, type RunningInstance } from '../host/instance.ts';
import type { Machine } from '../host/machine.node.ts';
import { createRestService } from '../host/rest-service.ts';
import { createDecisionsService } from '../local/decisions-service.ts';
import { createAutostartService, greet } from '../local/first-start.ts';
import { createItemsApi } from '../local/items-api.ts';
import { createSearchServices, openSearch } from '../local/mail-search.ts';
import { createLocalMailbox } from '../local/mailbox-api.ts';
import { createPermissions } from '../local/permissions.ts';
import { createQuietHoursService } from '../local/quiet-hours-service.ts';
import { resolveOwnerSocketPath } from '../owner-socket.ts';
import { readVersion } from '../package.node.ts';
import { createOwnLoginStart } from '../service/index.ts';
import { followAgentStates } from '../sources/agent-states.ts';
import { catchUpAfterInterruptions } from '../sources/hive-watchers.ts';
import { createLocalIdLookup, findLocalName, openLocal } from '../sources/local-hive.ts';
import { decidePrimary, findWatchedPlaces, hideSecrets } from '../sources/open-sources.ts';
import { loadPage, type McpHttp, startStatusServer } from '../status/index.ts';
import { openWatchers } from './open-watchers.ts';
import { createOwnedServices } from './owned-services.ts';
import { createSettingsApi } from './settings-api.ts';
import { followSettings } from './settings-service.ts';
import { type RunEnd, runInModes, type StoreMode } from './store-modes.ts';
import { createStartupBuffer, type Surfaces, startSurfaces } from './surfaces.ts';
import { createTrayControls } from './tray-controls.ts';
import { openTrayState } from './tray-state.ts';

/** Command line options that override the settings. */
export interface TrayPlan {
  readonly port: number | null;
  readonly tray: Settings['tray'] | null;
  readonly notifications: boolean;
  /** Whether to open the status page once it is served. */
  readonly open: boolean;
  /** Shows a person at a terminal the link to the page, which works once and for so long; null where nobody looks. */
  readonly showLink: ((url: string, goodForMs: number) => void) | null;
  /** The flags that make this plan again, without `open`. */
  readonly args: readonly string[];
}

export type TrayEnd = { readonly is: 'stopped' } | { readonly is: 'taken'; readonly by: RunningInstance | null };

/** A plan, and the function that loads the tools for MCP over HTTP. */
interface RunPlan extends TrayPlan {
  readonly openMcp: () => Promise<McpHttp>;
}

/** A person who starts Hivebar at a terminal may look at it only after a while. */
const START_LINK_MS = 600_000;
/** How long a recovery is shown before everything starts again. */
const RECOVERY_SHOWN_MS = 1500;
/** A link can be opened while its message is among this many events of its persona: more than any surface lists. */
const LINKED_EVENTS = 200;

/**
 * Runs the tray process, which watches every hive and has one board and all surfaces. Returns when it is asked to stop.
 * @throws Fault for whatever prevents the start: settings, database, port
 */
export async function runTray(
  plan: TrayPlan,
  dirs: Dirs,
  machine: Machine,
  openMcp: () => Promise<McpHttp>,
): Promise<TrayEnd> {
  for (const dir of [dirs.state, dirs.config]) ensurePrivateDir(machine.disk, dir);
  const claim = claimInstance(dirs.run, machine, plan.args);
  if (claim.is === 'taken') return claim;
  using instance = claim.instance;
  await runInModes(dirs, machine, (mode, running) => run({ ...plan, openMcp }, dirs, mode, instance, running));
  return { is: 'stopped' };
}

async function run(plan: RunPlan, real: Dirs, mode: StoreMode, instance: Instance, outer: Machine): Promise<RunEnd> {
  const isWhole = mode.is === 'whole';
  const dirs: Dirs = isWhole ? real : { ...real, state: mode.state };
  const file = openSettings(dirs.config);
  const configured = applyPlan(file.settings, plan, isWhole);
  using state = openTrayState(dirs.state, configured, mode, outer);
  const { board, db, local, outbox, history } = state;

  const stop = new AbortController();
  const machine: Machine = { ...outer, stop: AbortSignal.any([outer.stop, stop.signal]) };
  const { clock, log } = machine;
  const { primary, isFirstRun } = await decidePrimary(file, machine);
  const live = createLiveSettings({ ...configured, primary }, () => ({
    primary,
    ...applyPlan(openSettings(dirs.config).settings, plan, isWhole),
  }));
  using settingsService = followSettings(live, { path: getSettingsPath(dirs.config), board, clock, log });
  const settings = live.now;
  if (isFirstRun) {
    const found = await findWatchedPlaces(settings, machine);
    for (const line of found) log.info(line);
    if (primary.is === 'local' && isWhole)
      await greet(local, (id) => toEventFilePath(state.eventsDirectory, toStem(id)), found);
  }
  const interruptions = detectInterruptions(clock);
  const ownHive = openLocal(local, settings, clock);
  state.reconcile(ownHive);
  await using supervisor = supervise({
    clock,
    log,
    report: (service, fault) => board.put({ is: 'machine', at: clock.now(), key: `service:${service}`, fault }),
  });
  const start = (...services: readonly Service[]): void => services.forEach(supervisor.add);
  start(interruptions.service, history.service);
  const watchers = await openWatchers(
    {
      state,
      directory: dirs.state,
      settings,
      settingsFile: accessSettings(dirs.config),
      ownHive,
      supervisor,
      interruptions,
      isReadOnly: !isWhole,
    },
    machine,
  );
  await using sources = watchers.sources;
  using _agentStates = followAgentStates({ board, watchers: watchers.all });
  using _catchUp = catchUpAfterInterruptions({ interruptions, watchers: watchers.all, put: board.put, log });

  const preferences = openPreferenceStore(db);
  reportPreferences(preferences, board, clock.now());
  const quietHours = createQuietHoursService({
    hours: () => settings.quietHours ?? null,
    ...{ preferences, board, clock },
  });
  const decisions = createDecisionsService(
    { db, local, dirs, board, toPersonaId: createLocalIdLookup(ownHive) },
    machine,
  );
  using upstream = startUpstreamService({ db, local, dirs }, machine);
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
  const permissions = createPermissions(
    {
      board,
      isOn: () => settings.answerPermissions,
      findPersona: (persona, session) => {
        const owner = persona ?? sources.findSessionOwner(session);
        const known = new Set(board.snapshot().personas.flatMap(({ id, hidden }) => (hidden ? [] : id)));
        return owner === null ? null : (listPersonaForms(owner, dirs.config).find((id) => known.has(id)) ?? null);
      },
    },
    machine,
  );
  const login = createOwnLoginStart(hideSecrets(outer));
  const mailbox = createLocalMailbox({ local, toName: (persona) => findLocalName(persona, ownHive) });
  using search = openSearch(
    {
      ...{ db, delivered: outbox.delivered, toPersonaId: createLocalIdLookup(ownHive) },
      directory: isWhole ? dirs.state : null,
      isLocal: (persona) => findLocalName(persona, ownHive) !== null,
    },
    machine,
  );
  let surfaces: Surfaces | null = null;
  const controls = createTrayControls({
    ...{ board, clock, log, watchers: watchers.all, sources, preferences, quietHours, login, hiveChanged, mailbox },
    settings: settingsService,
    decisions: decisions.decisions,
    permissions,
    surfaces: () => surfaces,
    quit: () => stop.abort(),
  });
  const actions = createActions(controls, clock);

  let hasRoom = false;
  /** Ends the read-only mode, after the recovery was shown. */
  const leaveReadOnly = async (): Promise<void> => {
    if (isWhole || hasRoom) return;
    hasRoom = true;
    await clock.sleep(RECOVERY_SHOWN_MS, machine.stop);
    stop.abort();
  };
  using startupBuffer = createStartupBuffer(board);
  start(quietHours, decisions.numbers, decisions);
  const owned = isWhole
    ? createOwnedServices(
        {
          ...{ state, settings, dirs, decisions: decisions.decisions, login, interruptions },
          findSessionOwner: sources.findSessionOwner,
        },
        machine,
      )
    : null;
  start(...(owned?.first ?? []));
  start(createDiskSpaceService({ state: real.state, board, onSpace: () => void leaveReadOnly() }, machine));
  watchers.start();
  await using _services = {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await supervisor[Symbol.asyncDispose]();
    },
  };
  await using status = await startStatusServer({
    ...{ board, hive: local, decisions: decisions.api, actions, events: outbox, history, clock, log },
    ...{ permissions, items: createItemsApi({ db, local, dirs }, machine) },
    ...{ signals: upstream, keys: upstream.keys, projects: sources.projects, sourceMetrics: sources.metrics },
    listStored: mailbox.listStored,
    findMarks: (persona, id) => {
      const name = findLocalName(persona, ownHive);
      return name === null ? null : local.findMarks(name, id);
    },
    mail: search,
    page: loadPage(),
    token: instance.token,
    devices: openDevices(real.state, machine),
    settings: createSettingsApi(dirs.config, settingsService),
    tokenEverywhere: settings.tokenEverywhere,
    mcp: settings.mcpOverHttp ? plan.openMcp : null,
    port: settings.port,
    socketPath: resolveOwnerSocketPath(machine.os, dirs.run, machine.disk.uid),
    version: readVersion(),
    instance: { id: instance.id, pid: machine.pid },
  });
  start(...status.services);
  instance.publish(status.port);
  log.info(`hivebar ${readVersion()} is running: ${status.urls[0]} (pid ${machine.pid})`);
  plan.showLink?.(status.createOnceLink(null, START_LINK_MS), START_LINK_MS);
  machine.started();
  await using started = await startSurfaces({
    ...{ settings, board, startupBuffer, db, actions, config: dirs.config, runDirectory: dirs.run },
    port: status.port,
    createOnceLink: status.createOnceLink,
    findNativeSessions: sources.findSessions,
    findNativePage: sources.findPage,
    listNewestEvents: (persona) =>
      outbox.listNewest(persona, LINKED_EVENTS).flatMap(({ line }) => parseEventLine(line) ?? []),
    machine: hideSecrets(machine),
  });
  surfaces = started;
  using _applied = live.onChange(async (changed) => {
    if (changed.has('quietHours')) quietHours.follow();
    await started.follow(changed);
    await watchers.follow(changed);
  });
  start(createAutostartService({ login, board }, machine));
  if (plan.open)
    await actions
      .get('page')
      ?.run({}, machine.stop)
      .catch((error: unknown) => log.warn(String(error)));
  using _poke = machine.onPoke(() => controls.poll(null));
  start(createRestService({ outbox, board, work: state.work }, machine));
  start(...(owned?.last ?? []));
  if (isWhole) start(...createSearchServices(search, { local, outbox }, machine));
  settingsService.begin();
  await untilAborted(machine.stop);
  return hasRoom && !outer.stop.aborted ? 'space' : 'stopped';
}

function accessSettings(directory: string): SettingsAccess {
  return { path: getSettingsPath(directory), read: () => openSettings(directory).settings };
}

/** In read-only mode the relay waits for room, because nothing that it delivers could be saved. */
function applyPlan({ nats, ...settings }: Settings, plan: TrayPlan, isWhole: boolean): Settings {
  return {
    ...settings,
    ...(isWhole && nats !== undefined ? { nats } : {}),
    port: plan.port ?? settings.port,
    tray: plan.tray ?? settings.tray,
    notifications: settings.notifications && plan.notifications,
  };
}
