import { execFile } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatDuration } from '../../../core/format/index.ts';
import { type DaemonInstallation, loadInstalledDaemons } from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { findProgram, loadKoffi, realFiles, resolveProgram, silentLog } from '../../../core/ports/index.ts';
import { listConfiguredHives, parseHiveUrl, toInboxIdentity } from '../../../core/sources/index.ts';
import { createRealDisk, isLocked, readText, toStem } from '../../../core/state/index.ts';
import { findHelperProgram, type HelperProgram, prepareHelperProgram } from '../../helper-programs.node.ts';
import { checkHooks, createHookInstaller, findDeafness } from '../../hook/index.ts';
import { getMaxSocketPathBytes, resolveOwnerSocketPath } from '../../owner-socket.ts';
import {
  type Deployment,
  findPersona,
  listDeployedDirectories,
  type OldIdentity,
  readDeployment,
} from '../deployed/index.ts';
import type { NotifierProbe, TrayHelperProbe } from './desktop-judges.ts';
import { type DoctorContext, type Finding, ok, quoteShellWord, skipped, warn } from './doctor-context.ts';
import type { DirectoryProbe, FileProbe, LockProbe, NodeProbe, SocketProbe } from './machine-judges.ts';
import type { EventFileProbe, EventFilesProbe, HooksSeen, InstanceProbe } from './mail-judges.ts';

const MOST_BYTES = 64 * 1024;

export async function probeInstance({ dirs, version, tray }: DoctorContext): Promise<InstanceProbe> {
  const path = join(dirs.run, 'hivebar.json');
  const file = readInstanceFile(path);
  const owner = file.is === 'running' ? findProcess(file.pid) : ({ is: 'gone' } as const);
  return { path, file, owner, answer: await tray(), ourVersion: version };
}

function readInstanceFile(path: string): InstanceProbe['file'] {
  const text = readText(realFiles, path, MOST_BYTES);
  if (text === null) return { is: 'absent' };
  try {
    const { id, pid, startedAt, port } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || !Number.isInteger(pid) || typeof startedAt !== 'number') return { is: 'garbage' };
    return { is: 'running', id, pid: pid as number, startedAt, port: typeof port === 'number' ? port : null };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return { is: 'garbage' };
    throw error;
  }
}

function findProcess(pid: number): InstanceProbe['owner'] {
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isOthers = error instanceof Error && 'code' in error && error.code === 'EPERM';
    if (!isOthers) return { is: 'gone' };
  }
  return { is: 'alive', startedAt: readStartTime(pid) };
}

/** proc(5) counts in hundredths of a second since boot, whatever tick the kernel uses. */
const TICK_MS = 10;

/** Returns milliseconds since the epoch; null where there is no /proc. */
function readStartTime(pid: number): number | null {
  try {
    const boot = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program comes second, in parentheses, and may contain anything.
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    const at = boot * 1000 + ticks * TICK_MS;
    return Number.isFinite(at) ? at : null;
  } catch {
    return null; // there is no /proc, or the process has just ended
  }
}

const SHARED = 'events.ndjson';

export async function probeProducers(context: DoctorContext): Promise<ProducersProbe> {
  const now = context.clock.now();
  const deployed = findDeployments(context);
  const ours = readDeployment(getStatePath(context, 'headless'));
  const tray = await context.tray();
  const saved = deployed
    .flatMap(({ states }) => states)
    .flatMap(({ path, state, savedAt }) => {
      const persona = state.is === 'position' ? findWatchedPersona(context, state.identity) : null;
      return persona === null ? [] : [{ path, persona, agoMs: now - savedAt }];
    });
  return {
    os: context.os,
    trayRuns: tray.is === 'answered',
    headless: ours === null ? null : (listHeldLocks(ours)[0] ?? null),
    directories: deployed.map(({ directory }) => directory),
    held: deployed.flatMap(listHeldLocks),
    saved,
  };
}

export async function probeSharedFiles(context: DoctorContext): Promise<SharedFilesProbe> {
  const now = context.clock.now();
  const files = findDeployments(context).flatMap((deployed): readonly SharedFileProbe[] => {
    const path = deployed.events.find((file) => basename(file) === SHARED);
    const at = path === undefined ? null : readWriteTime(path);
    if (path === undefined || at === null) return [];
    const hasOthers = deployed.events.some((file) => /^events\..+\.ndjson$/.test(basename(file)));
    return [{ path, quietMs: now - at, isRetired: hasOthers || listHeldLocks(deployed).length === 0 }];
  });
  const headless = readDeployment(getStatePath(context, 'headless'));
  const folder =
    headless !== null && listHeldLocks(headless).length > 0 ? headless.directory : getStatePath(context, 'events');
  return { files, instead: join(folder, 'events.PERSONA.ndjson') };
}

function findDeployments({ env }: DoctorContext): readonly Deployment[] {
  return listDeployedDirectories(env).flatMap((directory) => readDeployment(directory) ?? []);
}

function listHeldLocks({ locks }: Deployment): readonly string[] {
  const disk = createRealDisk(silentLog);
  return locks.filter((path) => isLocked(disk, path));
}

/** Returns the persona when the inbox belongs to a hive of the settings. */
function findWatchedPersona(context: DoctorContext, identity: OldIdentity): string | null {
  const persona = findPersona(identity);
  if (persona === null) return null;
  const isOurs = listConfiguredHives(context.settings).some(({ base }) => {
    const url = parseHiveUrl(base, { is: 'source', key: base }).inbox(persona);
    return isDeepStrictEqual(identity, JSON.parse(JSON.stringify(toInboxIdentity(url))));
  });
  return isOurs ? persona : null;
}

/** Null: the file no longer exists. */
function readWriteTime(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

/** A line can be long, and the last line is the one that counts. */
const TAIL_BYTES = 256 * 1024;

export async function probeEventFiles(context: DoctorContext): Promise<EventFilesProbe> {
  const [database, tray] = [await context.database(), await context.tray()];
  const watches = database.is === 'read' ? database.watches : [];
  const files = watches.map(({ persona, newest }): EventFileProbe => {
    const path = join(context.dirs.state, 'events', `events.${toStem(persona)}.ndjson`);
    return { persona, path, newest, file: readEventFile(path) };
  });
  return { files, isRunning: tray.is === 'answered' };
}

/** Right after a rotation the newest line is in the first archive. */
function readEventFile(path: string): EventFileProbe['file'] {
  const live = readEnding(path);
  if (live.is !== 'read' || live.last !== null || live.isTorn) return live;
  const archive = readEnding(`${path}.1`);
  return archive.is === 'read' ? { ...live, last: archive.last } : live;
}

function readEnding(path: string): EventFileProbe['file'] {
  try {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      const lines = bytes.toString('utf8').split('\n');
      return { is: 'read', isTorn: lines.pop() !== '', last: parseEventId(lines.at(-1)) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { is: 'absent' };
    return { is: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

/** Parses the id instead of searching the text: JSON escapes a backslash or quote in a persona's name. */
function parseEventId(line: string | undefined): string | null {
  const spelled = /"event_id": ("(?:[^"\\]|\\.)*")/.exec(line ?? '')?.[1];
  if (spelled === undefined) return null;
  try {
    return JSON.parse(spelled) as string;
  } catch {
    return null; // not one of our lines
  }
}

/** Reads the hooks of this user, runs each once, and finds daemons without hooks. @throws Fault `settings`, `unreadable` */
export async function hooksSeen({ dirs, env }: DoctorContext): Promise<HooksSeen> {
  const own = await checkHooks(createHookInstaller(env), 'user');
  const daemons = loadInstalledDaemons(createRealDisk(silentLog), join(dirs.state, 'daemons'));
  const deaf = await Promise.all(daemons.map((daemon) => describeDeafness(daemon, env)));
  return { own, deaf: deaf.flat() };
}

async function describeDeafness(daemon: DaemonInstallation, env: DoctorContext['env']): Promise<readonly string[]> {
  if (daemon.is === 'bad' || daemon.config.paused) return []; // another check reports it, or it does not run
  const deafness = await findDeafness(daemon.config, env);
  return deafness === null ? [] : [`the daemon ${daemon.name} cannot ring between turns: ${deafness}`];
}

export function probeDirectory(path: string, me: number | null): DirectoryProbe {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      const parent = findExistingParent(path);
      return { is: 'absent', path, parent, canMake: mayWrite(parent) };
    }
    if (!stat.isDirectory()) return { is: 'other', path, kind: getKind(stat) };
    const { bavail, bsize } = statfsSync(path);
    return { is: 'directory', path, ...getOwner(stat, me), isWritable: mayWrite(path), freeBytes: bavail * bsize };
  } catch (error) {
    return { is: 'failed', path, why: error instanceof Error ? error.message : String(error) };
  }
}

export function probeFile(path: string, me: number | null): FileProbe {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, uid: null, me };
  return { path, is: stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'symlink' : 'other', ...getOwner(stat, me) };
}

export async function probeSocket({ os, dirs, uid, tray }: DoctorContext): Promise<SocketProbe> {
  const path = resolveOwnerSocketPath(os, dirs.run, uid);
  const most = getMaxSocketPathBytes(os);
  const answer = await tray();
  if (os === 'win32') return { path, is: 'pipe', mode: null, most, answer };
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, most, answer };
  return { path, is: stat.isSocket() ? 'socket' : 'other', mode: getOwner(stat, uid).mode, most, answer };
}

export const getStatePath = ({ dirs }: DoctorContext, ...names: string[]): string => join(dirs.state, ...names);

function getOwner(stat: Stats, me: number | null): { mode: number | null; uid: number | null; me: number | null } {
  return me === null ? { mode: null, uid: null, me } : { mode: stat.mode & 0o777, uid: stat.uid, me };
}

function getKind(stat: Stats): 'file' | 'symlink' | 'other' {
  return stat.isSymbolicLink() ? 'symlink' : stat.isFile() ? 'file' : 'other';
}

function findExistingParent(path: string): string {
  let parent = dirname(path);
  while (lstatSync(parent, { throwIfNoEntry: false }) === undefined && parent !== dirname(parent))
    parent = dirname(parent);
  return parent;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // the answer is no
  }
}

export function probeNode(): NodeProbe {
  return { version: process.versions.node, path: process.execPath };
}

export function probeLock({ os, env }: DoctorContext): LockProbe {
  return { os, koffi: probeKoffi(), flock: os === 'linux' ? findProgram('flock', env, os) : null };
}

function probeKoffi(): LockProbe['koffi'] {
  try {
    const { load, version } = loadKoffi() as ReturnType<typeof loadKoffi> & { readonly version: string };
    if (process.platform !== 'win32') load(null).func('int flock(int fd, int operation)');
    return { is: 'loads', version };
  } catch (error) {
    return { is: 'failed', why: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}

const HELPERS: Readonly<Partial<Record<NodeJS.Platform, HelperProgram>>> = {
  linux: 'tray_linux_release',
  darwin: 'tray_darwin_release',
  win32: 'tray_windows_release.exe',
};

export async function probeTrayHelper(context: DoctorContext, signal: AbortSignal): Promise<TrayHelperProbe> {
  const { os, arch, settings, env } = context;
  const isWay = settings.tray === 'systray2' || (settings.tray === 'auto' && (os === 'darwin' || os === 'win32'));
  const name = HELPERS[os];
  const installed = name === undefined ? `tray_${os}` : findHelperProgram(name);
  const isThere = existsSync(installed);
  const prepared = isWay && isThere && name !== undefined ? prepareHelper(name) : installed;
  const path = prepared instanceof Fault ? installed : prepared;
  const ldd = isWay && isThere && os === 'linux' ? await runProgram('ldd', [path], env, signal) : '';
  return {
    isWay,
    os,
    arch,
    path,
    isThere,
    fault: prepared instanceof Fault ? prepared : null,
    hasRosetta: isWay && os === 'darwin' && arch === 'arm64' ? await canRunIntel(env, signal) : null,
    lacks: [...(ldd ?? '').matchAll(/^\s*(\S+) => not found/gm)].map(([, name = '']) => name),
  };
}

function prepareHelper(name: HelperProgram): string | Fault {
  try {
    return prepareHelperProgram(name, silentLog);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** The PATH of a login session lacks the folders of the package managers. */
const EXTRA_PATHS = ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'];

export async function probeNotifier(context: DoctorContext, signal: AbortSignal): Promise<NotifierProbe> {
  const { os, arch, env, settings } = context;
  const base = { isWanted: settings.notifications, os, arch };
  if (os !== 'darwin' || !settings.notifications) return { ...base, own: null, hasRosetta: false, hasOsascript: false };
  const path = findProgram('terminal-notifier', env, os, EXTRA_PATHS);
  const versionText = path === null ? null : await runProgram(path, ['-version'], env, signal);
  return {
    ...base,
    own: path === null ? null : { path, version: /\b\d+\.\d+[.\d]*\d/.exec(versionText ?? '')?.[0] ?? null },
    hasRosetta: arch === 'arm64' && (await canRunIntel(env, signal)),
    hasOsascript: existsSync('/usr/bin/osascript'),
  };
}

async function canRunIntel(env: DoctorContext['env'], signal: AbortSignal): Promise<boolean> {
  return (await runProgram('/usr/bin/arch', ['-x86_64', '/usr/bin/true'], env, signal)) !== null;
}

const PROGRAM_MS = 2000;

/** Returns the output of a program, found by name on PATH or by path; null when it fails. */
function runProgram(
  name: string,
  args: string[],
  env: DoctorContext['env'],
  signal: AbortSignal,
): Promise<string | null> {
  const file = resolveProgram(name, env, process.platform);
  if (file === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    execFile(file, args, { env: { ...env }, timeout: PROGRAM_MS, signal }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
}

/** Other programs that report inboxes that we watch too (Kijito spec 14.4). */
export interface ProducersProbe {
  readonly os: NodeJS.Platform;
  readonly trayRuns: boolean;
  /** A lock of our own headless watch that a process holds. */
  readonly headless: string | null;
  /** Directories of a deployed monitor that exist. */
  readonly directories: readonly string[];
  /** Locks of the deployed monitor that a process holds. */
  readonly held: readonly string[];
  /** Positions that the deployed monitor saved for inboxes that we watch too, with their age. */
  readonly saved: readonly { readonly path: string; readonly persona: string; readonly agoMs: number }[];
}

/** The monitor saves at every full poll. It is silent for at most 10 skipped polls of a minute each. */
const RECENT_MS = 15 * 60_000;

const STOP: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'run: launchctl bootout gui/$(id -u)/com.kijito.inbox-monitor',
  linux: "run: systemctl --user disable --now 'kijito-inbox-monitor@*'",
};

export function judgeProducers(result: ProducersProbe): Finding {
  const { os, trayRuns, headless, directories, held, saved } = result;
  const stop = `${STOP[os] ?? 'stop it'} (or end its process), then, with Hivebar closed: hivebar migrate`;
  const twice = trayRuns || headless !== null ? ', beside Hivebar: everything is delivered twice' : '';
  const [lock] = held;
  if (lock !== undefined) return warn(`another monitor runs${twice}: it holds ${lock}${formatRemainder(held)}`, stop);
  const recent = saved.filter(({ agoMs }) => agoMs < RECENT_MS).toSorted((a, b) => a.agoMs - b.agoMs);
  const [first] = recent;
  if (first !== undefined) {
    const age = `${Math.max(0, Math.round(first.agoMs / 1000))} s ago`;
    return warn(
      `another monitor saved its position of ${first.persona} ${age}${twice}: ${first.path}${formatRemainder(recent)}`,
      stop,
    );
  }
  if (trayRuns && headless !== null)
    return warn(
      `the headless watch runs beside Hivebar, so everything is delivered twice: it holds ${headless}`,
      'keep one of them: hivebar service uninstall --headless, or quit Hivebar',
    );
  if (headless !== null) return ok('only the headless watch runs');
  return directories.length === 0 ? skipped('no other monitor was used here') : ok('no other monitor runs');
}

const formatRemainder = (items: readonly unknown[]): string =>
  items.length === 1 ? '' : ` (and ${items.length - 1} more)`;

/** The file of all personas that the monitor wrote before each persona had its own (Kijito spec 14.3). */
interface SharedFileProbe {
  readonly path: string;
  readonly quietMs: number;
  /** Files of single personas exist beside it, or a lock there is free: its writer is gone or writes elsewhere. */
  readonly isRetired: boolean;
}

export interface SharedFilesProbe {
  readonly files: readonly SharedFileProbe[];
  /** The path to follow instead, with PERSONA in it. */
  readonly instead: string;
}

export function judgeSharedFiles({ files, instead }: SharedFilesProbe): Finding {
  if (files.length === 0) return skipped('there is no shared events.ndjson');
  const [stale, ...rest] = files.filter(({ quietMs, isRetired }) => isRetired && quietMs >= RECENT_MS);
  if (stale === undefined) return ok(`${files.map(({ path }) => path).join(', ')} is written to by another monitor`);
  return warn(
    `no program has written to ${stale.path} for ${formatDuration(stale.quietMs)}: an agent that follows it gets no events${rest.length === 0 ? '' : ` (and ${rest.length} more)`}`,
    `have every agent follow its own file: tail -F ${quoteShellWord(instead)}; then move the old one away`,
  );
}
