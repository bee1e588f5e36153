import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type DaemonInstallation, loadInstalledDaemons } from '../../../core/link/index.ts';
import { realFiles, silentLog } from '../../../core/ports/index.ts';
import { listConfiguredHives, parseHiveUrl, toInboxIdentity } from '../../../core/sources/index.ts';
import { createRealDisk, isLocked, readText, toStem } from '../../../core/state/index.ts';
import { checkHooks, createHookInstaller, findDeafness } from '../../hook/index.ts';
import {
  type Deployment,
  findPersona,
  listDeployedDirectories,
  type OldIdentity,
  readDeployment,
} from '../deployed/index.ts';
import type { DoctorContext } from './doctor-context.ts';
import { getStatePath } from './machine-probes.node.ts';
import type { EventFileProbe, EventFilesProbe, HooksSeen, InstanceProbe } from './mail-judges.ts';
import type { ProducersProbe, SharedFileProbe, SharedFilesProbe } from './producers.ts';

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
  return deafness === null ? [] : [`the daemon ${daemon.name} says nothing between turns: ${deafness}`];
}
