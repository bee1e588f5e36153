import { computeGardenPlaces, type GardenPlaces } from '../../../core/sources/garden/index.ts';
import { findCurrentFolder, findOwnHome } from '../../../core/state/index.ts';

/** The directories of the store that is named, else of the environment, else of this user. */
export function findPlaces(store: string | undefined, env: Readonly<Record<string, string | undefined>>): GardenPlaces {
  return computeGardenPlaces({ store, env, home: findOwnHome(), cwd: findCurrentFolder() ?? findOwnHome() });
}
