import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import { realFiles, silentLog } from '../../../core/ports/index.ts';
import {
  assignIds,
  createBrainclawSource,
  type FoundProject,
  findProjects,
  STORE,
} from '../../../core/sources/brainclaw/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { resolveBrainclawPlaces } from '../../sources/brainclaw-places.node.ts';
import type { BrainclawProbe, ProjectProbe } from './brainclaw.ts';
import type { DoctorContext } from './doctor-context.ts';

/** Polls the projects once, as the watchers of the tray process do. */
export async function probeBrainclaw(context: DoctorContext, signal: AbortSignal): Promise<BrainclawProbe> {
  const { brainclaw } = context.settings;
  if (brainclaw.is === 'off') return { is: 'off' };
  const places = resolveBrainclawPlaces(brainclaw);
  const discovery = await findProjects(realFiles, places, async () => signal.throwIfAborted());
  const projects: ProjectProbe[] = [];
  for (const project of assignIds(discovery.projects, [], () => null)) {
    signal.throwIfAborted();
    projects.push(await probeProject(project, context, signal));
  }
  const missing = places.projects.filter((root) => !isThere(join(root, STORE)));
  return { is: 'projects', projects, missing, troubles: discovery.troubles };
}

async function probeProject(
  project: FoundProject,
  { settings, clock }: DoctorContext,
  signal: AbortSignal,
): Promise<ProjectProbe> {
  await using source = createBrainclawSource({
    ...{ project, disk: createRealDisk(silentLog), clock, log: silentLog, contentChars: null, seed: null },
    mail: settings.brainclaw.mail !== false,
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
