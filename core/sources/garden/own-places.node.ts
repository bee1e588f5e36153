import { findOwnHome, findWorkFolder } from '../../state/index.ts';
import { computeGardenPlaces, type GardenPlaces } from './read/index.ts';

/** Returns the directories of the named store, else of the store in the environment, else of this user's (garden contract 1). */
export function resolveGardenPlaces(
  store: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): GardenPlaces {
  return computeGardenPlaces({ store, env, home: findOwnHome(), cwd: findWorkFolder() });
}
