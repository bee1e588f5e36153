import { createHash } from 'node:crypto';
import { join, posix, win32 } from 'node:path';
import { Fault } from '../model/index.ts';
import type { Random } from '../ports/index.ts';
import {
  computeDirs,
  type Disk,
  ensurePrivateDir,
  getErrno,
  readPrivate,
  type Surroundings,
  writeAtomically,
} from '../state/index.ts';

/** The upstream is the hive of the same machine, whose port the tray process writes down. Any other upstream is a URL. */
export const LOCAL = 'local';

/** What was installed, as stored in `daemon.json`. Daemon, tray, hook and board all read it as the truth. */
export interface DaemonConfig extends DaemonName {
  /** The name of the persona at the upstream. */
  readonly address: string;
  readonly project: string;
  readonly surface: string;
  /** A hint for tools of the agent; Hivebar only passes it on. */
  readonly autonomy: string | null;
  /** `local`, or an http(s) or ws(s) URL. */
  readonly upstream: string;
  /** Whether the daemon rings once through the plugin's wake path while the agent is idle. */
  readonly wakeIdle: boolean;
  /** Who starts the daemon: the launcher of the system, or the tray process as its child. Never both. */
  readonly owner: 'launcher' | 'tray';
  readonly shim: { readonly command: readonly string[] } | null;
  /** Whether dependencies are installed, once, when the daemon is bound to its project. */
  readonly installDeps: boolean;
  readonly activateVenv: boolean;
  /** Nobody starts the daemon until it is installed again. */
  readonly paused: boolean;
}

/** A longer project or address is a mistake. */
const LONGEST = 1024;

/** @param path for the message @throws Fault `daemon-config`, naming the file, the key and the value */
export function parseDaemonConfig(text: string, path: string): DaemonConfig {
  const createFault = (problem: string): Fault => createDaemonConfigFault(path, problem);
  const read = parseObject(text);
  if (read === null) throw createFault('does not contain a JSON object');
  const readKey = (key: string): unknown => (Object.hasOwn(read, key) ? read[key] : undefined);
  const formatValue = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'missing';
  const readString = (key: string, isGood: (text: string) => boolean, must: string): string => {
    const value = readKey(key);
    if (typeof value === 'string' && value.length <= LONGEST && isGood(value)) return value;
    throw createFault(`${key} is ${formatValue(value)}, must be ${must}`);
  };
  const readFlag = (key: string): boolean => {
    const value = readKey(key) ?? false;
    if (typeof value === 'boolean') return value;
    throw createFault(`${key} is ${formatValue(value)}, must be true or false`);
  };
  const isPresent = (text: string): boolean => text !== '' && !text.includes('\0');
  const slug = 'of 1 to 32 letters a-z, digits and dashes';
  const autonomy = readKey('autonomy') ?? null;
  if (autonomy !== null && typeof autonomy !== 'string')
    throw createFault(`autonomy is ${formatValue(autonomy)}, must be a text`);
  const shim = readKey('shim') ?? null;
  const command = shim === null ? null : parseCommand(shim);
  if (shim !== null && command === null)
    throw createFault(`shim is ${formatValue(shim)}, must be {"command": ["PROGRAM", ...]}`);
  const owner = readKey('owner');
  if (owner !== 'launcher' && owner !== 'tray')
    throw createFault(`owner is ${formatValue(owner)}, must be launcher or tray`);
  return {
    tenant: readString('tenant', isSlug, slug),
    identity: readString('identity', isSlug, slug),
    address: readString('address', isPresent, 'a name'),
    project: readString('project', isPresent, 'a text'),
    surface: readString('surface', isPresent, 'a text'),
    autonomy,
    upstream: readString('upstream', isUpstream, `${LOCAL}, or an http, https, ws or wss URL without a user name`),
    wakeIdle: readFlag('wakeIdle'),
    owner,
    shim: command === null ? null : { command },
    installDeps: readFlag('installDeps'),
    activateVenv: readFlag('activateVenv'),
    paused: readFlag('paused'),
  };
}

export function formatDaemonConfig(config: DaemonConfig): string {
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Whether a text can be the upstream of a daemon. Whether the upstream is safe is decided at connect time. */
function isUpstream(text: string): boolean {
  if (text === LOCAL) return true;
  const url = URL.parse(text);
  return url !== null && /^(https?|wss?):$/.test(url.protocol) && url.username === '' && url.password === '';
}

function createDaemonConfigFault(path: string, problem: string): Fault {
  return new Fault('daemon-config', `${path}: ${problem}`, { is: 'machine', key: `file:${path}` });
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // the caller reports that it is not an object
  }
}

function parseCommand(shim: unknown): readonly string[] | null {
  const command: unknown = typeof shim === 'object' && shim !== null && 'command' in shim ? shim.command : null;
  if (!Array.isArray(command) || command.length === 0) return null;
  const words = command.filter((word) => typeof word === 'string' && !word.includes('\0'));
  return words.length === command.length && words[0] !== '' ? words : null;
}

/** An upper bound: a configuration has a few hundred bytes, a token 64. */
const MOST_BYTES = 64 * 1024;
/** Tokens of Hivebar are 64 hex digits. Other upstreams may use whatever a header can carry (RFC 6750, section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]{16,4096}=*$/;

/** A daemon as it was installed, or the reason why its configuration cannot be read. */
export type DaemonInstallation =
  | { readonly is: 'good'; readonly name: string; readonly config: DaemonConfig }
  | { readonly is: 'bad'; readonly name: string; readonly why: string };

/**
 * Reads the configuration of a daemon; null: no daemon is installed.
 * @throws Fault `daemon-config` if the file is invalid, `unreadable` if we may not read it
 */
export function readDaemonConfig(disk: Disk, { config: path }: Pick<DaemonPlaces, 'config'>): DaemonConfig | null {
  const text = readTextFile(disk, path);
  return text === null ? null : parseDaemonConfig(text, path);
}

/** Writes the configuration durably, and creates its directory with mode 0700. @throws Fault `unwritable` or `no-space` */
export function writeDaemonConfig(
  disk: Disk,
  random: Random,
  { dir, config: path }: Pick<DaemonPlaces, 'dir' | 'config'>,
  config: DaemonConfig,
): void {
  ensurePrivateDir(disk, dir);
  writeAtomically(disk, random, path, formatDaemonConfig(config));
}

/** Reads a token file; null: the file is missing. @throws Fault `daemon-config` or `unreadable` */
export function readDaemonToken(disk: Disk, path: string): string | null {
  const token = readTextFile(disk, path)?.trim() ?? null;
  if (token !== null && !TOKEN.test(token)) throw createDaemonConfigFault(path, 'does not contain a token');
  return token;
}

/** Writes a new token of 32 bytes to a file of mode 0600. @throws Fault `unwritable` or `no-space` */
export function writeDaemonToken(disk: Disk, random: Random, path: string): string {
  const token = random.hex(32);
  writeAtomically(disk, random, path, `${token}\n`);
  return token;
}

/** All daemons installed under `toDaemonsDir`, by name. A daemon that cannot be read is listed with the reason. */
export function loadInstalledDaemons(disk: Disk, dir: string): readonly DaemonInstallation[] {
  return listNames(disk, dir).flatMap((name): readonly DaemonInstallation[] => {
    try {
      const config = readDaemonConfig(disk, { config: join(dir, name, 'daemon.json') });
      if (config === null) return [];
      if (toJoinedName(config) === name) return [{ is: 'good', name, config }];
      return [{ is: 'bad', name, why: `${join(dir, name)} holds the daemon ${toJoinedName(config)}` }];
    } catch (error) {
      return [{ is: 'bad', name, why: error instanceof Error ? error.message : String(error) }];
    }
  });
}

function listNames(disk: Disk, dir: string): readonly string[] {
  try {
    return disk.files.readdir(dir).toSorted();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw error;
  }
}

function readTextFile(disk: Disk, path: string): string | null {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  if (bytes === null) return null;
  if (bytes.length > MOST_BYTES) throw createDaemonConfigFault(path, `is longer than ${MOST_BYTES} bytes`);
  return Buffer.from(bytes).toString('utf8');
}

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
function toRuntimeDir(around: DaemonSurroundings): string {
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

const DIGITS = 12;

/**
 * Makes a name for this machine for labels and records. It is the same at every start and short enough to be read out. The
 * system's own id is confidential (machine-id(5)), so it is hashed together with a fixed word. Without an id the host name is
 * used.
 * @param id the text of /etc/machine-id or its equivalent; null when there is none
 */
export function toMachineId(id: string | null, hostName: string): string {
  const text = id?.trim() ?? '';
  if (/^[0-9a-f-]{32,36}$/i.test(text)) {
    return createHash('sha256').update(`hivebar persona daemon ${text.toLowerCase()}`).digest('hex').slice(0, DIGITS);
  }
  return hostName.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'unknown';
}
