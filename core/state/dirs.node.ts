import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { Fault } from '../model/index.ts';
import { computeDirs, type Dirs } from './dirs.ts';

/**
 * The directories of this process. Creates nothing; see `ensurePrivateDir`. @throws Fault `usage` like `requireCurrentFolder` and
 * `findOwnHome`
 */
export function findOwnDirs(env: NodeJS.ProcessEnv = process.env): Dirs {
  const platform = process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux';
  const homeVariable = env.HIVEBAR_HOME;
  const cwd = homeVariable && !isAbsolute(homeVariable) ? requireCurrentFolder(`HIVEBAR_HOME is ${homeVariable}`) : '/';
  return computeDirs({ platform, env, home: homeVariable ? '/' : findOwnHome(), cwd });
}

/**
 * The home directory of this user: the one in the environment when that is an absolute path, otherwise the one the system knows.
 * An empty or relative HOME would put state into whatever folder the process runs in.
 *
 * @throws Fault `usage` when there is none
 */
export function findOwnHome(): string {
  const systemAnswer = homedir();
  if (isAbsolute(systemAnswer)) return systemAnswer;
  const known = findSystemHome();
  if (known !== null && isAbsolute(known)) return known;
  const words = `there is no home directory (HOME is ${JSON.stringify(systemAnswer)}): set HOME or HIVEBAR_HOME to an absolute path`;
  throw new Fault('usage', words, { is: 'machine', key: 'home' });
}

function findSystemHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    return null; // a user whom the system does not know
  }
}

/** The current folder of this process; null when somebody removed it, as happens to a git worktree under an agent. */
export function findCurrentFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null; // it was removed while we ran
  }
}

/** The current folder, or the home directory when the current folder was removed: where a relative path on a command line begins. */
export function findWorkFolder(): string {
  return findCurrentFolder() ?? findOwnHome();
}

/**
 * The current folder, for a caller that cannot do without it.
 * @param subject names the relative value, as `HIVEBAR_HOME is x`
 * @throws Fault `usage`
 */
export function requireCurrentFolder(subject: string): string {
  const folder = findCurrentFolder();
  if (folder !== null) return folder;
  const words = `${subject}, and the current folder was removed: give an absolute path, or change into a folder that is there`;
  throw new Fault('usage', words, { is: 'machine', key: 'cwd' });
}
