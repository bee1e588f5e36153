import { join } from 'node:path';
import { listPreparations, toVenvEnv } from '../../core/daemon/index.ts';
import type { DaemonConfig, DaemonPlaces } from '../../core/link/index.ts';
import { formatIso, toFault } from '../../core/model/index.ts';
import { readPrivate, writeAtomically } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';
import { programOnPath } from '../programs.node.ts';

type DaemonEnv = Machine['env'];

export interface ProjectAttachment {
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
    failed(`the project is not prepared: ${toFault(error, { is: 'machine', key: `daemon:${places.name}` }).message}`);
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
  failed(`${venv} is no directory: its environment is not activated`);
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
      return `was ended by ${ended.signal}`;
    case 'timeout':
      return `took longer than ${WITHIN_MS / 60_000} min`;
    case 'not-started':
      return ended.why;
  }
}

function toDefinedEnv(env: DaemonEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
