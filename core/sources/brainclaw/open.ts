import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { formatQuantity } from '../../format/index.ts';
import { Fault } from '../../model/index.ts';
import { every, type PeriodicService, type Service } from '../../services/index.ts';
import type {
  HiveHandle,
  SourceEnvironment,
  SourceHost,
  SourcePlace,
  WatchedHive,
  WatchedProject,
  WatchedSource,
} from '../module.ts';
import {
  type ActionClient,
  type ActionClientOptions,
  createActionClient,
  type ProjectActionResult,
  readSeed,
  runProjectAction,
} from './act/index.ts';
import { type ProjectActionRequest, parseActionParams } from './action-schema.ts';
import { type CursorStore, openCursorStore } from './cursor-store.ts';
import { getActionClientOptions, resolveBrainclawPlaces } from './doctor.node.ts';
import {
  assignIds,
  type FoundProject,
  findProjects,
  type Project,
  type ProjectPlaces,
  type ProjectSheet,
} from './read/index.ts';
import { BRAINCLAW, type BrainclawSettings } from './settings.ts';
import { createBrainclawSource } from './source.ts';
import { BOARD, type BrainclawOptions, type BrainclawSource, toSourceId } from './source-poll.ts';

/** Opens the search for projects. Each project that it finds is watched as a hive of its own. */
export function openBrainclaw(settings: BrainclawSettings, host: SourceHost): WatchedSource {
  const places = resolveBrainclawPlaces(settings.brainclaw);
  const actions = createProjectActionsService(
    { settings, clientOptions: getActionClientOptions(host.env, host.version), projects: () => projects.all() },
    host,
  );
  const projects = createProjectsService({ settings, places, createSeed: actions.createSeed }, host);
  return {
    hives: [],
    services: [projects],
    poll: projects.poll,
    projects: projects.all,
    act: async (_action, params, signal) => {
      const { project, request } = parseActionParams(params);
      return await actions.act(project, request, signal);
    },
    [Symbol.asyncDispose]: () => actions[Symbol.asyncDispose](),
  };
}

/** The projects and folders that the settings name. */
export async function findBrainclawPlaces(
  settings: BrainclawSettings,
  { disk, clock, stop }: SourceEnvironment,
): Promise<readonly SourcePlace[]> {
  const places = resolveBrainclawPlaces(settings.brainclaw);
  const { projects } = await findProjects(disk.files, places, () => clock.sleep(0, stop));
  return [...places.projects, ...places.roots].map((where) => {
    const count = projects.filter(({ root }) => root === where || root.startsWith(`${where}/`)).length;
    return { what: 'brainclaw projects', where, found: count === 0 ? null : formatQuantity(count, 'project') };
  });
}

interface ProjectsServiceOptions {
  readonly settings: BrainclawSettings;
  readonly places: ProjectPlaces;
  /** Returns the function that asks brainclaw once, when a project is activated. Null when the settings do not allow it. */
  readonly createSeed: (project: Project) => BrainclawOptions['seed'];
}

/** Finds and watches the projects of brainclaw. */
interface ProjectsService extends Service {
  /** Lists the projects that are watched now, sorted by id. */
  all(): readonly WatchedProject[];
  /** Searches for projects now. */
  poll(): void;
}

type ProjectsHost = Pick<SourceHost, 'disk' | 'clock' | 'random' | 'log' | 'state' | 'contentChars' | 'put' | 'watch'>;

const RESCAN_MS = 60_000;

interface OpenProject {
  readonly project: FoundProject;
  /** The id that the store itself declares. */
  readonly declaredId: string;
  readonly source: BrainclawSource;
  /** Its watchers; null while they are started. */
  handle: HiveHandle | null;
  /** The sheet that was last put on the board. */
  publishedSheet: ProjectSheet | null;
  rev: string | null;
}

/** Searches for projects, watches new ones, and releases those that are gone. */
export function createProjectsService(options: ProjectsServiceOptions, host: ProjectsHost): ProjectsService {
  const { settings, places } = options;
  const { disk, clock, log, put } = host;
  const byStore = new Map<string, OpenProject>();
  const reportedTroubles = new Set<string>();
  /** Ends the wait for the next search early. */
  let search: PeriodicService | null = null;

  /** Puts a sheet on the board when it changed, whether or not the counts did. */
  const publish = (watched: OpenProject): void => {
    const { sheet, id, named } = watched.source;
    if (sheet === null || sheet === watched.publishedSheet) return;
    watched.publishedSheet = sheet;
    const rev = createHash('sha256').update(JSON.stringify(sheet)).digest('base64url').slice(0, 16);
    if (rev === watched.rev) return;
    watched.rev = rev;
    put({ is: 'project', at: clock.now(), source: id, board: named(BOARD).id, rev });
  };

  const join = (project: FoundProject, declaredId: string, cursor: BrainclawOptions['cursor']): void => {
    const seed = options.createSeed(project);
    const changed = (): void => publish(watched);
    const { source, hive } = openProjectHive(project, settings, host, { cursor, seed, changed });
    const watched: OpenProject = { project, declaredId, source, handle: null, publishedSheet: null, rev: null };
    byStore.set(project.store, watched);
    watched.handle = host.watch(hive); // starts last, because a report needs the entry in `byStore`
    log.info(`${source.id}: watching ${project.root}`);
  };

  const release = async ({ project, source, handle }: OpenProject): Promise<void> => {
    byStore.delete(project.store);
    await handle?.release();
    await source[Symbol.asyncDispose]();
  };

  const withdraw = async (watched: OpenProject): Promise<void> => {
    await release(watched);
    const { project, source, handle } = watched;
    handle?.leave();
    put({ is: 'source', at: clock.now(), source: source.id, address: project.root, fault: null });
    put({ is: 'withdrawn', at: clock.now(), source: source.id });
    log.info(`${source.id}: ${project.root} no longer holds a project and is not watched`);
  };

  /** A directory that cannot be read counts as present. Its watcher reports what is wrong. */
  const isThere = (store: string): boolean => {
    try {
      return disk.files.lstat(store)?.kind === 'directory';
    } catch {
      return true; // the watcher of the project puts the fault on the board
    }
  };

  /** Joins new projects, and withdraws those that are gone or have another id now. */
  const follow = async (
    projects: readonly FoundProject[],
    cursors: CursorStore,
    signal: AbortSignal,
  ): Promise<void> => {
    const idByStore = new Map(projects.map(({ store, id }) => [store, id]));
    // A project that the settings name is down when it is gone, like an unmounted disk. One that was found by a search is over.
    const isOver = ({ project, declaredId }: OpenProject): boolean => {
      if (!project.isNamed && !isThere(project.store)) return true;
      return declaredId === basename(project.root) && (idByStore.get(project.store) ?? declaredId) !== declaredId; // the store had no id yet
    };
    for (const watched of [...byStore.values()].filter(isOver)) await withdraw(watched);
    const fresh = projects.filter(({ store }) => !byStore.has(store));
    const usedIds = [...byStore.values()].map(({ project }) => project.id);
    const holder = (id: string): string | null => cursors.findHolder(toSourceId({ id }));
    for (const project of signal.aborted ? [] : assignIds(fresh, usedIds, holder))
      join(project, idByStore.get(project.store) ?? project.id, cursors.open(toSourceId(project), project.store));
  };

  return {
    name: 'search for projects',
    all: () =>
      [...byStore.values()]
        .map(({ project, source, rev }) => ({
          id: source.id,
          board: source.named(BOARD).id,
          label: source.named(BOARD).label,
          root: project.root,
          ...{ sheet: source.sheet, sheetAt: source.sheetAt, rev, defects: source.defects },
          acts: settings.brainclaw.actions === true,
        }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    poll: () => search?.wake(),
    async run(signal) {
      if (places.projects.length === 0 && places.roots.length === 0) return;
      using cursors = openCursorStore(host.state, host);
      const pause = async (): Promise<void> => {
        await clock.sleep(0, signal);
      };
      const round = async (): Promise<void> => {
        const { projects, troubles } = await findProjects(disk.files, places, pause);
        for (const trouble of troubles) {
          if (!reportedTroubles.has(trouble)) log.warn(`the search for brainclaw projects is incomplete: ${trouble}`);
          reportedTroubles.add(trouble);
        }
        await follow(projects, cursors, signal);
      };
      search = every({ name: 'search for projects', ms: RESCAN_MS, round, clock });
      try {
        await search.run(signal);
      } finally {
        await Promise.all([...byStore.values()].map(release));
      }
    },
  };
}

interface ProjectHive {
  readonly source: BrainclawSource;
  readonly hive: WatchedHive;
}

/** Opens a project of brainclaw, watched as a hive of its own. */
function openProjectHive(
  project: Project,
  { brainclaw }: BrainclawSettings,
  { disk, clock, log, contentChars }: Pick<SourceHost, 'disk' | 'clock' | 'log' | 'contentChars'>,
  options: Required<Pick<BrainclawOptions, 'cursor' | 'seed' | 'changed'>>,
): ProjectHive {
  const source = createBrainclawSource({
    ...{ project, disk, clock, log, contentChars },
    mail: brainclaw.mail !== false,
    ...options,
  });
  return {
    source,
    hive: {
      source,
      address: project.root,
      identity: ({ address }) => [BRAINCLAW, address, project.store],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: brainclaw.backfill === true,
    },
  };
}

export interface ProjectActionsOptions {
  readonly settings: BrainclawSettings;
  /** Where brainclaw is, and who acts. */
  readonly clientOptions: Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'>;
  /** Lists the projects that are watched now. */
  readonly projects: () => readonly { readonly id: string; readonly root: string }[];
}

/** Runs the servers of brainclaw, one per project. Each runs from its first call until it has not been called for a while. */
export interface ProjectActionsService extends AsyncDisposable {
  /**
   * Returns the function that asks brainclaw once, when a project is activated. Null when the settings do not allow it (brainclaw
   * contract 9).
   */
  createSeed(project: { readonly root: string }): BrainclawOptions['seed'];
  /** @throws Fault `actions-off`, `usage`, or what `runProjectAction` throws */
  act(project: string, wish: ProjectActionRequest, signal: AbortSignal): Promise<ProjectActionResult>;
}

export function createProjectActionsService(
  options: ProjectActionsOptions,
  { clock, log, stop }: Pick<SourceHost, 'clock' | 'log' | 'stop'>,
): ProjectActionsService {
  const { settings, clientOptions, projects } = options;
  const isOn = settings.brainclaw.actions === true;
  const clients = new Map<string, ActionClient>();
  /**
   * The projects are asked one after the other, and each server ends before the next starts, because there may be many projects
   * at a start.
   */
  let seeds: Promise<unknown> = Promise.resolve();
  const getClient = (root: string): ActionClient => {
    const client = clients.get(root) ?? createActionClient({ ...clientOptions, root, clock, log });
    clients.set(root, client);
    return client;
  };
  return {
    createSeed({ root }) {
      if (!isOn) return null;
      return async () => {
        const client = getClient(root);
        const seed = seeds.then(async () => await readSeed(client, root, log, stop));
        seeds = seed.then(() => client.rest());
        return await seed;
      };
    },
    async act(id, wish, signal) {
      if (!isOn) throw createActionsOffFault(id);
      const project = projects().find((entry) => entry.id === id);
      if (project === undefined) throw createFault('usage', `there is no project ${JSON.stringify(id)}`);
      const { root } = project;
      return await runProjectAction(
        getClient(root),
        root,
        wish,
        clientOptions.principal,
        AbortSignal.any([signal, stop]),
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients.values()].map((client) => client[Symbol.asyncDispose]()));
    },
  };
}

const createFault = (code: 'usage' | 'actions-off', message: string): Fault =>
  new Fault(code, message, { is: 'machine', key: 'brainclaw-action' });

/** Hivebar does nothing to a project unless a person allowed it. */
export const createActionsOffFault = (project: string): Fault =>
  createFault('actions-off', `brainclaw.actions is not switched on in the settings, so nothing is done to ${project}`);
