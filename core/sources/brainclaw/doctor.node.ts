import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../model/index.ts';
import { realFiles, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { Finding } from '../finding.ts';
import type { CheckContext } from '../module.ts';
import { type BrainclawProbe, judgeBrainclaw, type ProjectProbe } from './doctor.ts';
import { resolveBrainclawPlaces } from './own-places.node.ts';
import { assignIds, type FoundProject, findProjects, STORE } from './read/index.ts';
import type { BrainclawSettings } from './settings.ts';
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
