import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import { realFiles, silentLog } from '../../../core/ports/index.ts';
import {
  brainclawSource,
  distinctIds,
  type FoundProject,
  findProjects,
  STORE,
} from '../../../core/sources/brainclaw/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import { brainclawPlaces } from '../../compose/brainclaw-places.node.ts';
import type { BrainclawSeen, ProjectFound } from './brainclaw.ts';
import type { Scene } from './scene.ts';

/** Sees what the watches of the tray process see, once. */
export async function brainclawSeen(scene: Scene, signal: AbortSignal): Promise<BrainclawSeen> {
  const { brainclaw } = scene.settings;
  if (brainclaw.is === 'off') return { is: 'off' };
  const places = brainclawPlaces(brainclaw);
  const found = await findProjects(realFiles, places, async () => signal.throwIfAborted());
  const projects: ProjectFound[] = [];
  for (const project of distinctIds(found.projects, [], () => null)) {
    signal.throwIfAborted();
    projects.push(await projectSeen(project, scene, signal));
  }
  const missing = places.projects.filter((root) => !isThere(join(root, STORE)));
  return { is: 'projects', projects, missing, troubles: found.troubles };
}

async function projectSeen(
  project: FoundProject,
  { settings, clock }: Scene,
  signal: AbortSignal,
): Promise<ProjectFound> {
  await using source = brainclawSource({
    ...{ project, disk: realDisk(silentLog), clock, log: silentLog, contentChars: null, seed: null },
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
