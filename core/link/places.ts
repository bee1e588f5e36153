import { posix, win32 } from 'node:path';
import { computeDirs, type Surroundings } from '../state/index.ts';

/** In the name of every unit, task, pipe and directory of a daemon. */
export const PREFIX = 'prism-daemon';

/** Whose daemon it is: two slugs, fixed when it is installed. */
export interface DaemonName {
  readonly tenant: string;
  readonly identity: string;
}

/** What the answer depends on. */
export interface DaemonSurroundings extends Surroundings {
  /** Null where the platform has no user ids (Windows). */
  readonly uid: number | null;
  readonly temp: string;
}

/** Where one daemon has its things. All absolute; nothing is created by asking. */
export interface DaemonPlaces {
  /** `TENANT-IDENTITY`. */
  readonly name: string;
  /** The name of its unit, task or label. */
  readonly unit: string;
  /** Its truth: what was installed. */
  readonly dir: string;
  readonly config: string;
  readonly observeToken: string;
  readonly actToken: string;
  /** Of the running process, 0700. */
  readonly runtime: string;
  /** A socket in `runtime`, on Windows a named pipe. */
  readonly socket: string;
  readonly token: string;
  /**
   * What is locked; the lock is beside it, in `NAME.lock`. Not in `runtime`: whoever removes that directory, as systemd does
   * and `daemon destroy`, must not remove the lock of a process that lives, nor hold a file of it open.
   */
  readonly locked: string;
  /** The number of the process that holds the lock, beside the lock: believed only while that is held. */
  readonly pid: string;
  readonly metrics: string;
  readonly log: string;
  readonly activity: string;
}

const SLUG = /^[a-z0-9-]{1,32}$/;
/** `sun_path` holds 104 bytes on macOS, one of them the end (persona daemon, contract 1). */
export const LONGEST_SOCKET = 103;

/** Of a tenant or an identity. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/**
 * A slug for any name: what no slug may hold becomes a dash. Empty when nothing is left of it, which is no slug. Two names may
 * have one slug: who installs looks whether it is taken.
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

/** `TENANT-IDENTITY`: two pairs may have one, so it is taken by who was installed first (persona daemon, contract 1). */
export function toJoinedName({ tenant, identity }: DaemonName): string {
  return `${tenant}-${identity}`;
}

/** Where what was installed stands, a directory a daemon. */
export function toDaemonsDir(around: Surroundings): string {
  return getPathModule(around).join(computeDirs(around).state, 'daemons');
}

/** Where the processes have their sockets, a directory a daemon. */
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
 * Pipes stand in one space of names for all users: the profile directory says whose it is, and its case tells nothing. The
 * name is no secret. Not run on Windows.
 */
function toPipeName(name: string, home: string): string {
  return `\\\\.\\pipe\\${PREFIX}.${computeHash(home.toLowerCase())}.${name}`;
}

/** FNV-1a with 64 bits, in hex: to load `node:crypto` takes longer than a hook has. */
function computeHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

const getPathModule = ({ platform }: Surroundings) => (platform === 'win32' ? win32 : posix);
