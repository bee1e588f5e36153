import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { Fault } from '../../../model/index.ts';
import { readConfig } from './config.ts';
import { namesIn, type ReadFiles, statOf } from './shelf.ts';

/** A directory in which brainclaw keeps a project. */
export interface Project {
  /** Holds `.brainclaw`. */
  readonly root: string;
  /** `.brainclaw` itself. */
  readonly store: string;
  /** The `project_id` of its configuration, else the folder's name. */
  readonly id: string;
}

/** Where projects are looked for. All absolute. */
export interface ProjectPlaces {
  /** Folders that hold a store. */
  readonly projects: readonly string[];
  /** Folders below which such folders lie. */
  readonly roots: readonly string[];
  /** Folders between a root and a project, and the project's own. */
  readonly depth: number;
}

export interface FoundProjects {
  /** By path, each store once. */
  readonly projects: readonly FoundProject[];
  /** What could not be looked into, a line each. */
  readonly troubles: readonly string[];
}

export interface FoundProject extends Project {
  /** A person named this very folder. */
  readonly isNamed: boolean;
}

export const STORE = '.brainclaw';
/** Folders that are looked into for one answer. */
export const MOST_FOLDERS = 20_000;
/** Folders after which others may have their turn. */
const FOLDERS_AT_ONCE = 200;

/**
 * The projects that there are. No symlink below a root is followed; folders of packages and those whose name begins with a
 * dot hold none. What can not be looked into is a trouble, and hides no other project.
 * @param pause lets others have their turn; what it throws ends the search
 */
export async function findProjects(
  files: ReadFiles,
  places: ProjectPlaces,
  pause: () => Promise<void>,
): Promise<FoundProjects> {
  const found = new Map<string, FoundProject>();
  const troubles: string[] = [];
  let looked = 0;

  const attempt = <T>(look: () => T): T | null => {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      troubles.push(error.message);
      return null;
    }
  };
  const take = (root: string, isNamed: boolean): void => {
    const store = join(root, STORE);
    const stat = attempt(() => statOf(files, store));
    if (stat?.kind !== 'directory') return;
    const place = `${stat.dev}:${stat.ino}`; // by another path it is the same one
    const known = found.get(place);
    if (known !== undefined && (known.isNamed || !isNamed)) return;
    const said = attempt(() => readConfig(files, join(store, 'config.yaml')).projectId);
    found.set(place, { root, store, id: said ?? basename(root), isNamed });
  };
  const walk = async (folder: string, depth: number): Promise<void> => {
    looked += 1;
    if (looked > MOST_FOLDERS) return;
    if (looked % FOLDERS_AT_ONCE === 0) await pause();
    take(folder, false);
    if (depth === 0) return;
    for (const name of attempt(() => namesIn(files, folder)) ?? []) {
      if (name.startsWith('.') || name === 'node_modules') continue;
      const path = join(folder, name);
      if (attempt(() => statOf(files, path))?.kind === 'directory') await walk(path, depth - 1);
    }
  };

  for (const root of [...places.projects].sort()) take(root, true);
  for (const root of [...places.roots].sort()) await walk(root, places.depth);
  if (looked > MOST_FOLDERS)
    troubles.push(`there are more than ${MOST_FOLDERS} folders below the roots: name nearer ones`);
  return { projects: [...found.values()].sort((a, b) => (a.store < b.store ? -1 : 1)), troubles };
}

const MOST_ID = 64;

/** What of a project's id stands in ids of ours: small letters, digits, `_` and `-`. */
export const safeId = (id: string): string =>
  id
    .toLowerCase()
    .slice(0, MOST_ID)
    .replaceAll(/[^a-z0-9_-]/g, '_');

/**
 * Gives every project an id of its own. Two copies of one project say the same id, and of two ids one may be the other with
 * a hyphen and an agent behind it. Who had an id keeps it, else the first by path has it; the other's has no hyphen
 * and ends with a hash of its path. So nobody's id depends on the order in which they are found, nor changes when another comes.
 * @param holder the store that has an id, or had it last; null: nobody
 */
export function distinctIds<P extends Project>(
  projects: readonly P[],
  taken: readonly string[],
  holder: (id: string) => string | null,
): readonly P[] {
  const ids = [...taken];
  const byRank = projects
    .map((project) => ({ project, rank: holder(safeId(project.id)) === project.store ? 0 : 1 }))
    .toSorted((a, b) => a.rank - b.rank || (a.project.store < b.project.store ? -1 : 1));
  const given = new Map<P, string>();
  for (const { project } of byRank) {
    const plain = safeId(project.id);
    const id = ids.some((other) => isMistaken(plain, other))
      ? `${plain.replaceAll('-', '_')}_${hashOf(project.store)}`
      : plain;
    ids.push(id);
    given.set(project, id);
  }
  return projects.map((project) => ({ ...project, id: given.get(project) ?? project.id }));
}

const isMistaken = (a: string, b: string): boolean => a === b || a.startsWith(`${b}-`) || b.startsWith(`${a}-`);

const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 6);
