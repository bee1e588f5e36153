import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { Fault } from '../../../model/index.ts';
import { listNames, type ReadFiles, readFile, readStat } from './read-files.ts';

/** A directory in which brainclaw keeps a project. */
export interface Project {
  /** The folder that holds `.brainclaw`. */
  readonly root: string;
  /** The `.brainclaw` directory itself. */
  readonly store: string;
  /** The `project_id` of its configuration, otherwise the folder's name. */
  readonly id: string;
}

/** Where projects are searched. All paths are absolute. */
export interface ProjectPlaces {
  /** Folders that hold a store. */
  readonly projects: readonly string[];
  /** Folders below which such folders are searched. */
  readonly roots: readonly string[];
  /** How many levels below a root are searched. */
  readonly depth: number;
}

export interface ProjectSearchResult {
  /** Sorted by path, each store once. */
  readonly projects: readonly FoundProject[];
  /** What could not be read, one line each. */
  readonly troubles: readonly string[];
}

export interface FoundProject extends Project {
  /** A person named this folder explicitly. */
  readonly isNamed: boolean;
}

export const STORE = '.brainclaw';
/** The most folders that one search visits. */
export const MOST_FOLDERS = 20_000;
/** After this many folders other work gets a turn. */
const FOLDERS_AT_ONCE = 200;

/**
 * Finds the projects. No symlink below a root is followed, and folders of packages and those whose name begins with a dot are
 * skipped. A folder that cannot be read becomes an entry in `troubles` and hides no other project.
 * @param pause gives other work a turn; an exception that it throws ends the search
 */
export async function findProjects(
  files: ReadFiles,
  places: ProjectPlaces,
  pause: () => Promise<void>,
): Promise<ProjectSearchResult> {
  const projectsByInode = new Map<string, FoundProject>();
  const troubles: string[] = [];
  let folderCount = 0;

  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      troubles.push(error.message);
      return null;
    }
  };
  const addProject = (root: string, isNamed: boolean): void => {
    const store = join(root, STORE);
    const stat = attempt(() => readStat(files, store));
    if (stat?.kind !== 'directory') return;
    const place = `${stat.dev}:${stat.ino}`; // the same store under another path counts once
    const known = projectsByInode.get(place);
    if (known !== undefined && (known.isNamed || !isNamed)) return;
    const projectId = attempt(() => readConfig(files, join(store, 'config.yaml')).projectId);
    projectsByInode.set(place, { root, store, id: projectId ?? basename(root), isNamed });
  };
  const walk = async (folder: string, depth: number): Promise<void> => {
    folderCount += 1;
    if (folderCount > MOST_FOLDERS) return;
    if (folderCount % FOLDERS_AT_ONCE === 0) await pause();
    addProject(folder, false);
    if (depth === 0) return;
    for (const name of attempt(() => listNames(files, folder)) ?? []) {
      if (name.startsWith('.') || name === 'node_modules') continue;
      const path = join(folder, name);
      if (attempt(() => readStat(files, path))?.kind === 'directory') await walk(path, depth - 1);
    }
  };

  for (const root of [...places.projects].sort()) addProject(root, true);
  for (const root of [...places.roots].sort()) await walk(root, places.depth);
  if (folderCount > MOST_FOLDERS)
    troubles.push(`there are more than ${MOST_FOLDERS} folders below the roots: name roots closer to the projects`);
  return { projects: [...projectsByInode.values()].sort((a, b) => (a.store < b.store ? -1 : 1)), troubles };
}

const MOST_ID = 64;

/** The form of a project's id that our ids contain: lower-case letters, digits, `_` and `-`. */
export const toSafeId = (id: string): string =>
  id
    .toLowerCase()
    .slice(0, MOST_ID)
    .replaceAll(/[^a-z0-9_-]/g, '_');

/**
 * Gives every project a distinct id. Two copies of one project have the same id, and one id may equal another with a hyphen and
 * an agent behind it.
 * The store that had an id before keeps it, otherwise the first by path gets it. The other store's id has no hyphen and ends with
 * a hash of its path. So no id depends on the order of the search or changes when another project appears.
 * @param holder returns the store that has an id, or had it last; null for none
 */
export function assignIds<P extends Project>(
  projects: readonly P[],
  usedIds: readonly string[],
  holder: (id: string) => string | null,
): readonly P[] {
  const ids = [...usedIds];
  const byRank = projects
    .map((project) => ({ project, rank: holder(toSafeId(project.id)) === project.store ? 0 : 1 }))
    .toSorted((a, b) => a.rank - b.rank || (a.project.store < b.project.store ? -1 : 1));
  const idByProject = new Map<P, string>();
  for (const { project } of byRank) {
    const plain = toSafeId(project.id);
    const id = ids.some((other) => isMistaken(plain, other))
      ? `${plain.replaceAll('-', '_')}_${hashPath(project.store)}`
      : plain;
    ids.push(id);
    idByProject.set(project, id);
  }
  return projects.map((project) => ({ ...project, id: idByProject.get(project) ?? project.id }));
}

const isMistaken = (a: string, b: string): boolean => a === b || a.startsWith(`${b}-`) || b.startsWith(`${a}-`);

const hashPath = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 6);

/** The values of a store's `config.yaml` that are used. */
export interface StoreConfig {
  /** The project's id; null when it cannot be read. */
  readonly projectId: string | null;
  /** `store.journal.mode`; null when it is missing, which means off (brainclaw contract 1). */
  readonly journalMode: string | null;
}

const MOST_CONFIG = 1024 * 1024;

/**
 * @param path `config.yaml` of a store
 * @throws Fault `unreadable` for a failure that is not about this file
 */
export function readConfig(files: ReadFiles, path: string): StoreConfig {
  const file = readFile(files, path, MOST_CONFIG);
  return parseConfig(file.is === 'bytes' ? file.bytes.toString('utf8') : '');
}

/** Parses only plain keys and words, each on a line of its own, as the writer leaves them. The rest of YAML is ignored. */
export function parseConfig(text: string): StoreConfig {
  const values = new Map<string, string>();
  const above: { indent: number; key: string }[] = [];
  for (const line of text.split('\n')) {
    const [, space = '', key, rest = ''] = /^( *)([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?\s*$/.exec(line) ?? [];
    if (key === undefined) continue;
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= space.length) above.pop();
    above.push({ indent: space.length, key });
    const word = parseWord(rest);
    if (word !== '') values.set(above.map((level) => level.key).join('.'), word);
  }
  return { projectId: values.get('project_id') ?? null, journalMode: values.get('store.journal.mode') ?? null };
}

function parseWord(text: string): string {
  const quoted = /^(["'])(.*?)\1/.exec(text);
  return quoted?.[2] ?? text.replace(/(^|\s)#.*$/, '').trim();
}
