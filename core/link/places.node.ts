import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { ownHome, startFolder } from '../state/index.ts';
import { type DaemonName, type DaemonPlaces, type DaemonSurroundings, daemonPlaces } from './places.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * What this process is surrounded by. On Linux the runtime directory of the session stands in for a XDG_RUNTIME_DIR that is
 * missing: a hook that was started without it must look where the daemon is, which its unit gave it.
 */
export function ownSurroundings(env: Env = process.env): DaemonSurroundings {
  const platform = process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux';
  const uid = process.getuid?.() ?? null;
  const given = env.HIVEBAR_HOME;
  const cwd = given && !isAbsolute(given) ? startFolder(`HIVEBAR_HOME is ${given}`) : '/';
  return { platform, env: withRuntime(env, platform, uid), home: ownHome(), cwd, uid, temp: tmpdir() };
}

export function ownDaemonPlaces(daemon: DaemonName, env: Env = process.env): DaemonPlaces {
  return daemonPlaces(daemon, ownSurroundings(env));
}

function withRuntime(env: Env, platform: DaemonSurroundings['platform'], uid: number | null): Env {
  if (platform !== 'linux' || uid === null || env.HIVEBAR_HOME || env.XDG_RUNTIME_DIR) return env;
  const session = `/run/user/${uid}`;
  return statSync(session, { throwIfNoEntry: false })?.uid === uid ? { ...env, XDG_RUNTIME_DIR: session } : env;
}
