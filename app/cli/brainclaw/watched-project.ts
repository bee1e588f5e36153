import {
  assignIds,
  findProjects,
  type Project,
  resolveBrainclawPlaces,
  toSafeId,
} from '../../../core/sources/brainclaw/index.ts';
import type { Disk } from '../../../core/state/index.ts';
import { findOwnDirs } from '../../../core/state/index.ts';
import { openSettings } from '../../config/tray/index.ts';

/**
 * Finds the project with this id among the projects of the settings; null when none has it.
 * @throws Fault `settings` when the settings have a mistake
 */
export async function findWatchedProject(
  disk: Disk,
  env: Readonly<Record<string, string | undefined>>,
  id: string,
): Promise<Project | null> {
  const { settings } = openSettings(findOwnDirs({ ...env }).config);
  const { projects } = await findProjects(disk.files, resolveBrainclawPlaces(settings.brainclaw), async () => {});
  const ids = assignIds(projects, [], () => null);
  const index = ids.findIndex((project) => project.id === toSafeId(id));
  return projects[index] ?? null;
}
