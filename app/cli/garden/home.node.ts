import { computeGardenPlaces, type GardenPlaces } from '../../../core/sources/garden/index.ts';
import { findCurrentFolder, findOwnHome } from '../../../core/state/index.ts';

/** Returns the directories of the named store, else of the store in the environment, else of this user's store. */
export function findPlaces(store: string | undefined, env: Readonly<Record<string, string | undefined>>): GardenPlaces {
  return computeGardenPlaces({ store, env, home: findOwnHome(), cwd: findCurrentFolder() ?? findOwnHome() });
}
