import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Fact } from '../../core/board/index.ts';
import type { Service, Supervisor } from '../../core/services/index.ts';
import {
  BOARD,
  type BrainclawOptions,
  type BrainclawSource,
  distinctIds,
  type FoundProject,
  findProjects,
  type Project,
  type ProjectPlaces,
  type Sheet,
  sourceIdOf,
} from '../../core/sources/brainclaw/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { ProjectSeen } from '../status/index.ts';
import { projectHive } from './brainclaw.ts';
import { type Cursors, openCursors } from './brainclaw-cursors.ts';
import type { WatchedHive } from './hives.ts';
import type { Machine } from './machine.ts';
import type { TrayWatches } from './tray-watches.ts';

export interface ProjectsServiceOptions {
  readonly settings: Settings;
  readonly places: ProjectPlaces;
  /** The state directory. */
  readonly state: string;
  readonly put: (fact: Fact) => void;
  /** All watches of the process: those of projects come and go among them. */
  readonly watches: TrayWatches[];
  /** Makes the watches of a hive. */
  readonly watch: (hive: WatchedHive) => TrayWatches;
  readonly supervisor: Supervisor;
  /** The one question at activation; null: nobody may be asked. */
  readonly seedOf: (project: Project) => BrainclawOptions['seed'];
}

/** The projects of brainclaw that are watched. */
export interface ProjectsService extends Service {
  /** Now, by id. */
  all(): readonly ProjectSeen[];
  /** Looks for projects now. */
  poll(): void;
}

const RESCAN_MS = 60_000;

interface Watched {
  readonly project: FoundProject;
  /** Its id as the store says it. */
  readonly said: string;
  readonly source: BrainclawSource;
  readonly watches: TrayWatches;
  /** Its watches, as they run; disposing ends them. */
  readonly running: AsyncDisposable[];
  /** As last told to the board. */
  told: Sheet | null;
  rev: string | null;
}

/** Looks for projects, watches them as they come, and lets them go. */
export function createProjectsService(options: ProjectsServiceOptions, machine: Machine): ProjectsService {
  const { settings, places, put, watches } = options;
  const { disk, clock, log } = machine;
  const byStore = new Map<string, Watched>();
  const said = new Set<string>();
  /** Cuts the wait for the next search. */
  let hurry = new AbortController();

  /** The page is told of a sheet when it differs, whatever became of the counts. */
  const tell = (watched: Watched): void => {
    const { sheet, id, named } = watched.source;
    if (sheet === null || sheet === watched.told) return;
    watched.told = sheet;
    const rev = createHash('sha256').update(JSON.stringify(sheet)).digest('base64url').slice(0, 16);
    if (rev === watched.rev) return;
    watched.rev = rev;
    put({ is: 'project', at: clock.now(), source: id, board: named(BOARD).id, rev });
  };

  const join = (project: FoundProject, said: string, cursor: BrainclawOptions['cursor']): void => {
    const seed = options.seedOf(project);
    const changed = (): void => tell(watched);
    const { source, hive } = projectHive(project, settings, machine, { cursor, seed, changed });
    const its = options.watch(hive);
    const watched: Watched = { project, said, source, watches: its, running: [], told: null, rev: null };
    watches.push(its);
    byStore.set(project.store, watched);
    watched.running.push(options.supervisor.add(its)); // it reads, and so reports, only when it is known here
    log.info(`${source.id}: watching ${project.root}`);
  };

  const letGo = async ({ project, source, watches: its, running }: Watched): Promise<void> => {
    byStore.delete(project.store);
    for (const each of running) await each[Symbol.asyncDispose]();
    const at = watches.indexOf(its);
    if (at >= 0) watches.splice(at, 1);
    await source[Symbol.asyncDispose]();
  };

  const withdraw = async (watched: Watched): Promise<void> => {
    await letGo(watched);
    const { project, source, watches: its } = watched;
    its.leave();
    put({ is: 'source', at: clock.now(), source: source.id, address: project.root, fault: null });
    put({ is: 'withdrawn', at: clock.now(), source: source.id });
    log.info(`${source.id}: ${project.root} holds no project any more, and is not watched`);
  };

  /** What can not be looked at is there: whoever reads it says what is wrong. */
  const isThere = (store: string): boolean => {
    try {
      return disk.files.lstat(store)?.kind === 'directory';
    } catch {
      return true; // its watch has the trouble on the board
    }
  };

  /** Joins what is new, and lets go what is over or goes by another id now. */
  const follow = async (projects: readonly FoundProject[], cursors: Cursors, signal: AbortSignal): Promise<void> => {
    const idOf = new Map(projects.map(({ store, id }) => [store, id]));
    // A named one that is gone is an outage, as an unmounted disk is; one that was found is over.
    const isOver = ({ project, said }: Watched): boolean => {
      if (!project.isNamed && !isThere(project.store)) return true;
      return said === basename(project.root) && (idOf.get(project.store) ?? said) !== said; // it was just being made
    };
    for (const watched of [...byStore.values()].filter(isOver)) await withdraw(watched);
    const fresh = projects.filter(({ store }) => !byStore.has(store));
    const taken = [...byStore.values()].map(({ project }) => project.id);
    const holder = (id: string): string | null => cursors.holder(sourceIdOf({ id }));
    for (const project of signal.aborted ? [] : distinctIds(fresh, taken, holder))
      join(project, idOf.get(project.store) ?? project.id, cursors.of(sourceIdOf(project), project.store));
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
    poll: () => hurry.abort(),
    async run(signal) {
      if (places.projects.length === 0 && places.roots.length === 0) return;
      using cursors = openCursors(options.state, machine);
      const pause = async (): Promise<void> => {
        await clock.sleep(0, signal);
      };
      try {
        while (!signal.aborted) {
          hurry = new AbortController();
          const { projects, troubles } = await findProjects(disk.files, places, pause);
          for (const trouble of troubles) {
            if (!said.has(trouble)) log.warn(`looking for brainclaw projects: ${trouble}`);
            said.add(trouble);
          }
          await follow(projects, cursors, signal);
          await clock.sleep(RESCAN_MS, AbortSignal.any([signal, hurry.signal]));
        }
      } finally {
        await Promise.all([...byStore.values()].map(letGo));
      }
    },
  };
}
