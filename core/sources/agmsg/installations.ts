import { basename, dirname, join } from 'node:path';
import { parseJson } from '../../model/index.ts';
import { type Disk, getErrno, readText } from '../../state/index.ts';

/** A folder into which agmsg was installed. */
export interface Installation {
  readonly root: string;
  /** The command under which it was installed. */
  readonly name: string;
}

/** A member of a team. */
export interface Agent {
  readonly team: string;
  readonly name: string;
  /** The agent program of its newest registration; null when it says none. */
  readonly type: string | null;
  /** The project folder of its newest registration; null when it says none that is absolute. */
  readonly project: string | null;
}

export interface AgmsgTeam {
  readonly name: string;
  readonly agents: readonly Agent[];
}

const MOST_CONFIG_BYTES = 4 * 1024 * 1024;

/**
 * Whether this may be the name of a team or an agent. A name becomes part of a path, of an address and of the arguments of a
 * program. So one with a separator, an invisible character, or a leading dot or dash is refused.
 */
export function isName(name: string): boolean {
  return /^[^\p{C}\s./\\-][^\p{C}/\\]{0,99}$/u.test(name) && !name.includes('..');
}

/** The installations in a folder of skills: those with teams, or with a store. */
export function findInstallations(disk: Disk, skills: string): readonly string[] {
  return list(disk, skills)
    .map((name) => join(skills, name))
    .filter((root) => isInstallation(disk, root));
}

/** @throws nothing: what cannot be read is none */
function isInstallation({ files }: Disk, root: string): boolean {
  try {
    const has = (...names: string[]): boolean => files.lstat(join(root, ...names)) !== null;
    return has('teams') && (has('scripts') || has('db'));
  } catch {
    return false; // a file, or a folder of somebody else
  }
}

export function toInstallation(root: string): Installation {
  return { root, name: basename(root) };
}

/** Changes when a team came, went, or was configured in another way. @throws when the folder of teams cannot be read */
export function computeTeamsStamp(disk: Disk, { root }: Installation): string {
  const stamps = list(disk, join(root, 'teams'))
    .sort()
    .map((name) => {
      const stat = disk.files.lstat(join(root, 'teams', name, 'config.json'));
      return `${name} ${stat?.ino} ${stat?.size} ${stat?.ctimeMs}`;
    });
  return [root, ...stamps].join('\n');
}

/** The teams of an installation, sorted. `refused` gets what is no team. @throws when the folder of teams cannot be read */
export function readTeams(disk: Disk, { root }: Installation, refused: (line: string) => void): readonly AgmsgTeam[] {
  return list(disk, join(root, 'teams'))
    .sort()
    .flatMap((name) => {
      const path = join(root, 'teams', name, 'config.json');
      if (!isName(name)) {
        refused(`the team ${JSON.stringify(name.slice(0, 100))} is refused because of its name`);
        return [];
      }
      try {
        const text = readText(disk.files, path, MOST_CONFIG_BYTES);
        return text === null ? [] : [{ name, agents: parseAgents(name, text, refused) }];
      } catch (error) {
        if (getErrno(error) === 'ENOTDIR') return [];
        refused(`${path}: ${error instanceof Error ? error.message : String(error)}`);
        return [];
      }
    });
}

function parseAgents(team: string, text: string, refused: (line: string) => void): readonly Agent[] {
  const { agents } = toObject(parseJson(text));
  return Object.entries(toObject(agents)).flatMap(([name, value]) => {
    if (!isName(name)) {
      refused(`the agent ${JSON.stringify(name.slice(0, 100))} of the team ${team} is refused because of its name`);
      return [];
    }
    const { registrations } = toObject(value);
    const { type, project } = toObject(Array.isArray(registrations) ? registrations.at(-1) : value);
    return [
      {
        ...{ team, name, type: typeof type === 'string' && type !== '' ? type : null },
        project:
          typeof project === 'string' && /^(?:\/|[a-z]:[\\/])/i.test(project) && !/\p{Cc}/u.test(project)
            ? project
            : null,
      },
    ];
  });
}

/** Where the messages of a team are, as agmsg says. */
export interface StoreAnswer {
  /** How it keeps them; agmsg calls that its driver. */
  readonly kind: string;
  readonly path: string;
}

/** Null for an answer that is not about this team, or that names no absolute path. */
export function parseStoreAnswer(text: string, team: string): StoreAnswer | null {
  const answer = toObject(parseJson(text));
  const { driver: kind, path } = answer;
  if (answer.team !== team || typeof kind !== 'string' || typeof path !== 'string') return null;
  if (!/^(?:\/|[a-z]:[\\/])/i.test(path) || path.includes('\0')) return null;
  return { kind, path: kind === JSONL ? toLogPath(path) : path };
}

export const JSONL = 'jsonl';
export const SQLITE = 'sqlite';

/** The log of a file-based store is beside the database that there would be. */
export function toLogPath(path: string): string {
  return path.endsWith('.jsonl') ? path : join(dirname(path), 'events.jsonl');
}

/** Where messages are when agmsg cannot be asked: the default store of the installation. */
export function findDefaultStore(
  disk: Disk,
  { root }: Installation,
  env: Readonly<Record<string, string | undefined>>,
): StoreAnswer {
  const folder = env.AGMSG_STORAGE_PATH || join(root, 'db');
  const [database, log] = [join(folder, 'messages.db'), join(folder, 'events.jsonl')];
  const isLog = disk.files.lstat(database) === null && disk.files.lstat(log) !== null;
  return isLog ? { kind: JSONL, path: log } : { kind: SQLITE, path: database };
}

function list({ files }: Disk, folder: string): string[] {
  try {
    return files.readdir(folder);
  } catch (error) {
    if (getErrno(error) === 'ENOENT' || getErrno(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
