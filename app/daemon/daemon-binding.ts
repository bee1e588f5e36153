import { join, resolve } from 'node:path';
import { listPreparations, parseUpstreamUrls, toVenvEnv, type UpstreamEndpoint } from '../../core/daemon/index.ts';
import {
  type DaemonConfig,
  type DaemonName,
  type DaemonPlaces,
  LOCAL,
  readDaemonConfig,
  readDaemonToken,
} from '../../core/link/index.ts';
import { Fault, formatIso, toFault } from '../../core/model/index.ts';
import { type Dirs, type Disk, readPrivate, writeAtomically } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { programOnPath } from '../programs.node.ts';

/** The configuration that a daemon was installed with, and what belongs to this start. */
export interface DaemonBinding {
  readonly config: DaemonConfig;
  /** Returns the current address and token of the upstream. @throws Fault, or Error while the tray process does not run */
  readonly upstream: () => UpstreamEndpoint;
  /** The tokens that were read so far. No log may contain them. */
  readonly secrets: readonly string[];
}

const LONGEST_PORT = 8;

/**
 * Reads what was installed and compares it with the command line: a daemon is bound to one project for its life (persona daemon,
 * check 18).
 *
 * @throws Fault `daemon-config` or `unreadable`
 */
export function readDaemonBinding(
  plan: DaemonPlan,
  places: DaemonPlaces,
  disk: Disk,
  { run }: Pick<Dirs, 'run'>,
): DaemonBinding {
  const installed = readDaemonConfig(disk, places);
  if (installed === null)
    throw createConfigFault(places.config, 'does not exist; create it with hivebar daemon install');
  const project = resolve(plan.project);
  if (resolve(installed.project) !== project) {
    throw createConfigFault(
      places.config,
      `the daemon ${places.name} is bound to the project ${installed.project}, not to ${project}; run hivebar daemon wrap ${places.name}, then install it for ${project}`,
    );
  }
  const config: DaemonConfig = {
    ...installed,
    project,
    surface: plan.surface ?? installed.surface,
    autonomy: plan.autonomy ?? installed.autonomy,
    installDeps: plan.installDeps || installed.installDeps,
    activateVenv: plan.activateVenv || installed.activateVenv,
  };
  const secrets = new Set<string>();
  const upstream = (): UpstreamEndpoint => {
    const token = readObserveToken(disk, places);
    secrets.add(token);
    const base = config.upstream === LOCAL ? readLocalBase(disk, run) : config.upstream;
    const urls = parseUpstreamUrls(base);
    if (urls !== null) return { ...urls, token };
    throw createConfigFault(
      places.config,
      `upstream is ${base}: a token is only sent to an https or wss URL or to this machine`,
    );
  };
  // A permanent error is reported now. That the tray process does not run is temporary.
  if (config.upstream === LOCAL) readObserveToken(disk, places);
  else upstream();
  return {
    config,
    upstream,
    get secrets() {
      return [...secrets];
    },
  };
}

function readObserveToken(disk: Disk, { observeToken: path }: DaemonPlaces): string {
  const token = readDaemonToken(disk, path);
  if (token === null) throw createConfigFault(path, 'does not exist; create it with hivebar daemon install');
  return token;
}

/** Returns where the tray process serves now. The port changes with each of its starts. @throws Error while it does not run */
export function readLocalBase(disk: Disk, run: string): string {
  const bytes = readPrivate(disk, join(run, 'port'), LONGEST_PORT);
  const port = bytes === null ? '' : Buffer.from(bytes).toString('latin1').trim();
  if (!/^\d+$/.test(port)) throw new Error('the tray process, which is the upstream, is not running');
  return `http://127.0.0.1:${port}`;
}

function createConfigFault(path: string, message: string): Fault {
  return new Fault('daemon-config', `${path}: ${message}`, { is: 'machine', key: `file:${path}` });
}

/** The command line of a daemon. What it leaves out is taken from the installed configuration. */
export interface DaemonPlan extends DaemonName {
  readonly project: string;
  readonly surface: string | null;
  readonly autonomy: string | null;
  readonly installDeps: boolean;
  readonly activateVenv: boolean;
}

type DaemonEnv = Machine['env'];

interface ProjectAttachment {
  readonly config: DaemonConfig;
  readonly places: DaemonPlaces;
  readonly machine: Machine;
  /** Ends whatever still runs. */
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
  readonly failed: (why: string) => void;
}

/** The time limit: enough for the dependencies of a large project over a slow line. */
const WITHIN_MS = 15 * 60_000;
const MOST_BYTES = 64 * 1024;

/**
 * Binds a daemon to its project (persona daemon, seed "Project attach lifecycle"). It sets the environment for the surface and,
 * once in the life of the binding, installs the dependencies. A failure is reported and tried again at the next start, because a
 * daemon can listen even if its project is not prepared.
 */
export async function attachProject({
  config,
  places,
  machine,
  signal,
  report,
  failed,
}: ProjectAttachment): Promise<DaemonEnv> {
  const { project, autonomy } = config;
  const hinted = autonomy === null ? machine.env : { ...machine.env, HIVEBAR_AUTONOMY: autonomy };
  const env = config.activateVenv ? enterVenv(hinted, config, machine, failed) : hinted;
  if (!config.installDeps) return env;
  const record = join(places.dir, 'attached.json');
  try {
    if (isAttached(machine, record, project)) return env;
    for (const { program, args } of listPreparations(machine.disk.files.readdir(project))) {
      const line = [program, ...args].join(' ');
      report(`${line} in ${project}`);
      const file = programOnPath(program, env, machine.os);
      if (file === null) throw new Error(`${program} is not on PATH`);
      const ended = await machine.spawn.run(
        { file, args, cwd: project, env: toDefinedEnv(env), timeoutMs: WITHIN_MS },
        signal,
      );
      if (signal.aborted) return env;
      if (ended.is !== 'exited' || ended.code !== 0) throw new Error(`${line}: ${formatExit(ended)}`);
    }
    const text = JSON.stringify({ project, at: formatIso(machine.clock.now()) });
    writeAtomically(machine.disk, machine.random, record, `${text}\n`);
  } catch (error) {
    failed(
      `the project could not be prepared: ${toFault(error, { is: 'machine', key: `daemon:${places.name}` }).message}`,
    );
  }
  return env;
}

function enterVenv(
  env: DaemonEnv,
  { project }: DaemonConfig,
  { disk, os }: Machine,
  failed: (why: string) => void,
): DaemonEnv {
  const venv = join(project, '.venv');
  if (disk.files.lstat(venv)?.kind === 'directory') return toVenvEnv(env, venv, os);
  failed(`${venv} is not a directory, so the virtual environment is not activated`);
  return env;
}

function isAttached({ disk }: Machine, record: string, project: string): boolean {
  const bytes = readPrivate(disk, record, MOST_BYTES);
  if (bytes === null) return false;
  try {
    const stored: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof stored === 'object' && stored !== null && 'project' in stored && stored.project === project;
  } catch {
    return false; // an unknown state means that the project is prepared again
  }
}

function formatExit(ended: Exclude<Awaited<ReturnType<Machine['spawn']['run']>>, undefined>): string {
  switch (ended.is) {
    case 'exited':
      return `ended with ${ended.code}: ${ended.stderr.trim().split('\n').at(-1) ?? ''}`;
    case 'killed':
      return `was killed by ${ended.signal}`;
    case 'timeout':
      return `timed out after ${WITHIN_MS / 60_000} min`;
    case 'not-started':
      return ended.why;
  }
}

function toDefinedEnv(env: DaemonEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
