import { posix, win32 } from 'node:path';

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
