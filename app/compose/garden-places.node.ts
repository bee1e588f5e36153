import { type Places, placesOf } from '../../core/sources/garden/index.ts';
import { currentFolder, ownHome } from '../../core/state/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from './machine.ts';

/** Where the garden store of these settings is (garden contract 1). */
export function gardenPlaces({ store }: Settings['garden'], env: Machine['env']): Places {
  return placesOf({ store, env, home: ownHome(), cwd: currentFolder() ?? ownHome() });
}
