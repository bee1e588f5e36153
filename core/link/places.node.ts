import { readFileSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { findOwnHome, requireCurrentFolder } from '../state/index.ts';
import {
  computeDaemonPlaces,
  type DaemonName,
  type DaemonPlaces,
  type DaemonSurroundings,
  toMachineId,
} from './config.ts';

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

const PLACES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/**
 * Returns the id of this machine in the form of `toMachineId`. macOS and Windows have no file for it, so the host name is used
 * there.
 */
export function readMachineId(): string {
  const id = PLACES.map(readTextOrNull).find((text) => text !== null && text.trim() !== '') ?? null;
  return toMachineId(id, hostname());
}

function readTextOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not on this system
  }
}
