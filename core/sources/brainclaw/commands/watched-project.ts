import type { Disk } from '../../../state/index.ts';
import { assignIds, findProjects, type Project, resolveBrainclawPlaces, toSafeId } from '../index.ts';
import type { BrainclawSettings } from '../settings.ts';

/** Finds the project with this id among the projects of the settings; null when none has it. */
export async function findWatchedProject(
  disk: Disk,
  { brainclaw }: BrainclawSettings,
  id: string,
): Promise<Project | null> {
  const { projects } = await findProjects(disk.files, resolveBrainclawPlaces(brainclaw), async () => {});
  const ids = assignIds(projects, [], () => null);
  const index = ids.findIndex((project) => project.id === toSafeId(id));
  return projects[index] ?? null;
}
