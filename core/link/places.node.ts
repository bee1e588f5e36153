import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { findOwnHome, requireCurrentFolder } from '../state/index.ts';
import { computeDaemonPlaces, type DaemonName, type DaemonPlaces, type DaemonSurroundings } from './places.ts';

type LinkEnv = Readonly<Record<string, string | undefined>>;

/**
 * Collects what the paths of this process depend on. On Linux, the runtime directory of the session replaces a missing
 * XDG_RUNTIME_DIR: a hook may start without the variable, while the daemon's unit sets it, and both must find the same paths.
 */
export function readOwnSurroundings(env: LinkEnv = process.env): DaemonSurroundings {
  const platform = process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux';
  const uid = process.getuid?.() ?? null;
  const homeSetting = env.HIVEBAR_HOME;
  const cwd = homeSetting && !isAbsolute(homeSetting) ? requireCurrentFolder(`HIVEBAR_HOME is ${homeSetting}`) : '/';
  return { platform, env: addRuntimeDir(env, platform, uid), home: findOwnHome(), cwd, uid, temp: tmpdir() };
}

export function findOwnDaemonPlaces(daemon: DaemonName, env: LinkEnv = process.env): DaemonPlaces {
  return computeDaemonPlaces(daemon, readOwnSurroundings(env));
}

function addRuntimeDir(env: LinkEnv, platform: DaemonSurroundings['platform'], uid: number | null): LinkEnv {
  if (platform !== 'linux' || uid === null || env.HIVEBAR_HOME || env.XDG_RUNTIME_DIR) return env;
  const session = `/run/user/${uid}`;
  return statSync(session, { throwIfNoEntry: false })?.uid === uid ? { ...env, XDG_RUNTIME_DIR: session } : env;
}
