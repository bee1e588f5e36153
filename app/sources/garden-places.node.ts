import { computeGardenPlaces, type GardenPlaces } from '../../core/sources/garden/index.ts';
import { findCurrentFolder, findOwnHome } from '../../core/state/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.ts';

/** Returns where the garden store of these settings is (garden contract 1). */
export function resolveGardenPlaces({ store }: Settings['garden'], env: Machine['env']): GardenPlaces {
  return computeGardenPlaces({ store, env, home: findOwnHome(), cwd: findCurrentFolder() ?? findOwnHome() });
}
