import { type Places, placesOf } from '../../../core/sources/garden/index.ts';
import { currentFolder, ownHome } from '../../../core/state/index.ts';

/** The directories of the store that is named, else of the environment, else of this user. */
export function placesHere(store: string | undefined, env: Readonly<Record<string, string | undefined>>): Places {
  return placesOf({ store, env, home: ownHome(), cwd: currentFolder() ?? ownHome() });
}
