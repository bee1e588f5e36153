import { posix, win32 } from 'node:path';
import { computeDirs, type Surroundings } from '../state/index.ts';

/** Part of the name of every unit, task, pipe and directory of a daemon. */
export const PREFIX = 'prism-daemon';

/** The name of a daemon: two slugs, fixed at installation. */
export interface DaemonName {
  readonly tenant: string;
  readonly identity: string;
}

/** What the paths depend on. */
export interface DaemonSurroundings extends Surroundings {
  /** Null where the platform has no user ids (Windows). */
  readonly uid: number | null;
  readonly temp: string;
}

/** The paths of one daemon. All are absolute; computing them creates nothing. */
export interface DaemonPlaces {
  /** `TENANT-IDENTITY`. */
  readonly name: string;
  /** The name of the daemon's unit, task or label. */
  readonly unit: string;
  /** The directory of what was installed. */
  readonly dir: string;
  readonly config: string;
  readonly observeToken: string;
  readonly actToken: string;
  /** The directory of the running process, 0700. */
  readonly runtime: string;
  /** A socket in `runtime`, on Windows a named pipe. */
  readonly socket: string;
  readonly token: string;
  /**
   * The path that is locked; the lock is beside it, in `NAME.lock`. The lock is not inside `runtime`, because systemd and `daemon
   * destroy` remove that directory. They must not remove the lock of a live process, nor hold a file of it open.
   */
  readonly locked: string;
  /** The id of the process that holds the lock. It is valid only while the lock is held. */
  readonly pid: string;
  readonly metrics: string;
  readonly log: string;
  readonly activity: string;
}

const SLUG = /^[a-z0-9-]{1,32}$/;
/** `sun_path` holds 104 bytes on macOS, including the end (persona daemon, contract 1). */
export const LONGEST_SOCKET = 103;

/** Whether a text can be a tenant or an identity. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/**
 * Makes a slug from any name: characters that a slug cannot hold become dashes. An empty result is not a slug. Two names may have
 * the same slug, so the installer checks whether the slug is taken.
 */
export function toSlug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 32)
    .replace(/^-+|-+$/g, '');
}

/** `TENANT-IDENTITY`. Two pairs may have the same joined name; the first installed one takes it (persona daemon, contract 1). */
export function toJoinedName({ tenant, identity }: DaemonName): string {
  return `${tenant}-${identity}`;
}

/** The parent directory of what was installed, with one directory per daemon. */
export function toDaemonsDir(around: Surroundings): string {
  return getPathModule(around).join(computeDirs(around).state, 'daemons');
}

/** The parent directory of the sockets, with one directory per daemon. */
export function toRuntimeDir(around: DaemonSurroundings): string {
  const { platform, env, uid, temp } = around;
  const path = getPathModule(around);
  const own = path.join(computeDirs(around).run, PREFIX);
  if (env.HIVEBAR_HOME) return own;
  const xdg = env.XDG_RUNTIME_DIR;
  if (platform === 'linux' && xdg && path.isAbsolute(xdg)) return path.join(xdg, PREFIX);
  if (platform === 'darwin') return path.join(temp, `${PREFIX}-${uid ?? 0}`);
  return own;
}

export function computeDaemonPlaces(daemon: DaemonName, around: DaemonSurroundings): DaemonPlaces {
  const path = getPathModule(around);
  const name = toJoinedName(daemon);
  const dir = path.join(toDaemonsDir(around), name);
  const runtime = path.join(toRuntimeDir(around), name);
  const socket = around.platform === 'win32' ? toPipeName(name, around.home) : path.join(runtime, 'ctl.sock');
  return {
    ...{ name, unit: `${PREFIX}-${name}`, dir, runtime, socket },
    config: path.join(dir, 'daemon.json'),
    observeToken: path.join(dir, 'observe.token'),
    actToken: path.join(dir, 'act.token'),
    token: path.join(runtime, 'ctl.token'),
    locked: runtime,
    pid: `${runtime}.pid`,
    metrics: path.join(runtime, 'metrics.prom'),
    log: path.join(runtime, 'log'),
    activity: path.join(runtime, 'activity'),
  };
}

/**
 * Named pipes share one namespace for all users, so the name contains a hash of the profile directory, in lower case. The name is
 * not a secret. Not run on Windows.
 */
function toPipeName(name: string, home: string): string {
  return `\\\\.\\pipe\\${PREFIX}.${computeHash(home.toLowerCase())}.${name}`;
}

/** FNV-1a with 64 bits, in hex. Loading `node:crypto` takes longer than a hook has. */
function computeHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

const getPathModule = ({ platform }: Surroundings) => (platform === 'win32' ? win32 : posix);
