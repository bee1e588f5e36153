import { homedir } from 'node:os';
import { type Places, placesOf } from '../../../core/sources/garden/index.ts';

/** The directories of the store that is named, else of the environment, else of this user. */
export function placesHere(store: string | undefined, env: Readonly<Record<string, string | undefined>>): Places {
  return placesOf({ store, env, home: homedir(), cwd: process.cwd() });
}
