import { lstatSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { Fault } from '../../model/index.ts';
import { findProgram, realFiles, silentLog } from '../../ports/index.ts';
import { createRealDisk, findOwnHome } from '../../state/index.ts';
import { type CheckContext, type Finding, ok, skipped, warn } from '../module.ts';
import type { ActionClientOptions } from './act/index.ts';
import { assignIds, type FoundProject, findProjects, type ProjectPlaces, STORE } from './read/index.ts';
import { BRAINCLAW, type BrainclawSettings } from './settings.ts';
import { createBrainclawSource } from './source.ts';

/** Polls the projects once, as the watchers of the tray process do. */
export async function checkBrainclaw(
  settings: BrainclawSettings,
  context: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  return judgeBrainclaw(await probeBrainclaw(settings, context, signal));
}

async function probeBrainclaw(
  { brainclaw }: BrainclawSettings,
  context: CheckContext,
  signal: AbortSignal,
): Promise<BrainclawProbe> {
  if (brainclaw.is === 'off') return { is: 'off' };
  const places = resolveBrainclawPlaces(brainclaw);
  const discovery = await findProjects(realFiles, places, async () => signal.throwIfAborted());
  const projects: ProjectProbe[] = [];
  for (const project of assignIds(discovery.projects, [], () => null)) {
    signal.throwIfAborted();
    projects.push(await probeProject(project, brainclaw.mail !== false, context, signal));
  }
  const missing = places.projects.filter((root) => !isThere(join(root, STORE)));
  return { is: 'projects', projects, missing, troubles: discovery.troubles };
}

async function probeProject(
  project: FoundProject,
  mail: boolean,
  { clock }: CheckContext,
  signal: AbortSignal,
): Promise<ProjectProbe> {
  await using source = createBrainclawSource({
    ...{ project, disk: createRealDisk(silentLog), clock, log: silentLog, contentChars: null, seed: null },
    mail,
    cursor: { load: () => null, save: () => {} },
  });
  try {
    await source.personas(signal);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { id: project.id, remarks: [], flaws: [error.message], attention: null };
  }
  const { sheet, defects } = source;
  return {
    ...{ id: project.id, flaws: defects },
    remarks: sheet?.remarks ?? [],
    attention: sheet?.attention?.total ?? null,
  };
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const DEPTH = 3;

/**
 * Returns where these settings look for projects. Only places that a person named are searched. `~/...` and relative paths are
 * below the home directory.
 */
export function resolveBrainclawPlaces({
  is,
  projects = [],
  roots = [],
  depth = DEPTH,
}: BrainclawSettings['brainclaw']): ProjectPlaces {
  const home = findOwnHome();
  const absolute = (path: string): string => resolve(home, path === '~' ? home : path.replace(/^~\//, ''));
  if (is === 'off') return { projects: [], roots: [], depth };
  return { projects: projects.map(absolute), roots: roots.map(absolute), depth };
}

/** Returns what an action client needs to know of this machine: where brainclaw is, and who acts. */
export function getActionClientOptions(
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'> {
  return {
    env,
    principal: userInfo().username,
    version,
    command: () => {
      const file = findProgram(BRAINCLAW, env, process.platform);
      return file === null ? null : [file, 'mcp'];
    },
  };
}

/** A project as its watcher would see it. */
export interface ProjectProbe {
  readonly id: string;
  /** Reservations about its numbers. */
  readonly remarks: readonly string[];
  /** Defects of its store, one line each. */
  readonly flaws: readonly string[];
  /** How many items ask for a person; null: unknown. */
  readonly attention: number | null;
}

export type BrainclawProbe =
  | { readonly is: 'off' }
  | {
      readonly is: 'projects';
      readonly projects: readonly ProjectProbe[];
      /** Folders that the settings name and that hold no project. */
      readonly missing: readonly string[];
      /** Problems with folders that could not be read. */
      readonly troubles: readonly string[];
    };

export function judgeBrainclaw(result: BrainclawProbe): Finding {
  if (result.is === 'off') return skipped('switched off in the settings');
  const { projects, missing, troubles } = result;
  const summary = `${projects.length} project${projects.length === 1 ? '' : 's'}`;
  const problems = [
    ...missing.map((path) => `${path} contains no project`),
    ...troubles,
    ...projects.flatMap(({ id, remarks, flaws }) =>
      remarks.length + flaws.length === 0 ? [] : [`${id}: ${[...remarks, ...flaws].join(', ')}`],
    ),
  ];
  const [first, ...rest] = problems;
  if (first === undefined) {
    const asks = projects.map(({ id, attention }) => `${id} ${attention ?? '?'}`).join(', ');
    return ok(projects.length === 0 ? summary : `${summary}; asking for a person: ${asks}`);
  }
  const remainder = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return warn(`${summary}; ${first}${remainder}`, 'see the details: hivebar brainclaw doctor --project DIR');
}
