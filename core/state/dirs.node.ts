import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, posix, win32 } from 'node:path';
import { Fault } from '../model/index.ts';

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

/**
 * The cache directory of this user. What is lost there is made again. `HIVEBAR_HOME` does not move it, because it holds no state
 * and no secret.
 */
export function findCacheHome(): string {
  if (process.platform === 'darwin') return join(findOwnHome(), 'Library', 'Caches');
  if (process.platform === 'win32') return process.env.LOCALAPPDATA ?? join(findOwnHome(), 'AppData', 'Local');
  const configured = process.env.XDG_CACHE_HOME;
  return configured?.startsWith('/') ? configured : join(findOwnHome(), '.cache');
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

/** Where Hivebar stores its files. All paths are absolute. */
export interface Dirs {
  /** Database, gates, published event files. Never a cache directory: a cleaner would take mail with it. */
  readonly state: string;
  /** Port, pid, token and sockets of the running tray process, pre-rendered hook texts. */
  readonly run: string;
  /** The user's settings. */
  readonly config: string;
}

/** The inputs from which the directories are computed. */
export interface Surroundings {
  readonly platform: 'linux' | 'darwin' | 'win32';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The folder to which a relative HIVEBAR_HOME is relative. */
  readonly cwd: string;
}

const NAME = 'hivebar';

/** `HIVEBAR_HOME` moves everything. Without it each platform's own places for state and for settings are used. */
export function computeDirs({ platform, env, home, cwd }: Surroundings): Dirs {
  const path = platform === 'win32' ? win32 : posix;
  if (env.HIVEBAR_HOME) {
    const root = path.resolve(cwd, env.HIVEBAR_HOME);
    return { state: root, run: path.join(root, 'run'), config: path.join(root, 'config') };
  }
  // The base directory specification says to ignore a relative value.
  const resolveXdg = (name: string, fallback: string): string => {
    const value = env[name];
    return value && path.isAbsolute(value) ? value : path.join(home, fallback);
  };
  switch (platform) {
    case 'linux': {
      const state = path.join(resolveXdg('XDG_STATE_HOME', '.local/state'), NAME);
      return { state, run: path.join(state, 'run'), config: path.join(resolveXdg('XDG_CONFIG_HOME', '.config'), NAME) };
    }
    case 'darwin': {
      const state = path.join(home, 'Library/Application Support', NAME);
      return { state, run: path.join(state, 'run'), config: path.join(state, 'config') };
    }
    case 'win32': {
      const state = path.join(resolveXdg('LOCALAPPDATA', 'AppData/Local'), NAME);
      return { state, run: path.join(state, 'run'), config: path.join(resolveXdg('APPDATA', 'AppData/Roaming'), NAME) };
    }
  }
}
