import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { findOwnHome, getErrno, toIoFault } from '../../../core/state/index.ts';
import { type OldState, parseOldState } from './old-state.ts';

/** The contents of one directory of a deployed monitor. Nothing in it is changed. */
export interface Deployment {
  readonly directory: string;
  readonly states: readonly OldFile[];
  /** The lock files, `STATEFILE.lock`. */
  readonly locks: readonly string[];
  /** Event files and their archives. */
  readonly events: readonly string[];
}

export interface OldFile {
  readonly path: string;
  readonly state: OldState;
  /** When the file was last saved, in milliseconds since the epoch. */
  readonly savedAt: number;
}

const NAME = 'kijito-inbox-monitor';

/**
 * Lists where the monitor may be deployed: its older and newer place, and the place on macOS (Kijito spec 14.4, contract i).
 */
export function listDeployedDirectories(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const home = findOwnHome();
  const { XDG_STATE_HOME: state } = env;
  const paths = [
    join(home, '.cache', NAME),
    ...(state !== undefined && isAbsolute(state) ? [join(state, NAME)] : []),
    join(home, '.local', 'state', NAME),
    join(home, 'Library', 'Application Support', NAME),
  ];
  return [...new Set(paths)];
}

/** Null: the directory does not exist. @throws Fault `unreadable` */
export function readDeployment(directory: string): Deployment | null {
  let names: readonly string[];
  try {
    names = readdirSync(directory).toSorted();
  } catch (error) {
    if (getErrno(error) === 'ENOENT' || getErrno(error) === 'ENOTDIR') return null;
    throw toIoFault(error, directory, 'unreadable');
  }
  const paths = names.map((name) => join(directory, name));
  return {
    directory,
    states: paths.filter((path) => path.endsWith('.json')).map(readOldFile),
    locks: paths.filter((path) => path.endsWith('.lock')),
    events: paths.filter((path) => /\.ndjson(\.\d+)?$/.test(path)),
  };
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Reads a state file; `absent` when there is none. */
export function readOldFile(path: string): OldFile {
  const unusable = (why: string, savedAt = 0): OldFile => ({ path, state: { is: 'unusable', why }, savedAt });
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (getErrno(error) === 'ELOOP') return unusable('is a symlink, which is never followed');
    return unusable(getErrno(error) === 'ENOENT' ? ABSENT : `cannot be read (${getErrno(error)})`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return unusable('is not a regular file');
    if (stat.size > MOST_BYTES) return unusable(`has ${stat.size} bytes, too large for a state file`);
    return { path, state: parseOldState(readFileSync(fd)), savedAt: stat.mtimeMs };
  } finally {
    closeSync(fd);
  }
}

export const ABSENT = 'does not exist';
