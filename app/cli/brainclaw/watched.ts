import { distinctIds, findProjects, type Project, safeId } from '../../../core/sources/brainclaw/index.ts';
import type { Disk } from '../../../core/state/index.ts';
import { ownDirs } from '../../../core/state/index.ts';
import { brainclawPlaces } from '../../compose/brainclaw-places.node.ts';
import { openSettings } from '../../config/tray/index.ts';

/**
 * The project of this id among those that the settings name; null: none of them is called so.
 * @throws Fault `settings` when they have a mistake
 */
export async function watchedProject(
  disk: Disk,
  env: Readonly<Record<string, string | undefined>>,
  id: string,
): Promise<Project | null> {
  const { settings } = openSettings(ownDirs({ ...env }).config);
  const { projects } = await findProjects(disk.files, brainclawPlaces(settings.brainclaw), async () => {});
  const ids = distinctIds(projects, [], () => null);
  const index = ids.findIndex((project) => project.id === safeId(id));
  return projects[index] ?? null;
}
