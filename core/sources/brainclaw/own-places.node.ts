import { resolve } from 'node:path';
import { findOwnHome } from '../../state/index.ts';
import type { ProjectPlaces } from './read/index.ts';
import type { BrainclawSettings } from './settings.ts';

const DEPTH = 3;

/**
 * Returns where these settings look for projects. Only places that a person named are searched. `~/...` and relative paths are
 * below the home directory.
 */
export function resolveBrainclawPlaces({
  is,
  projects = [],
  roots = [],
  depth = DEPTH,
}: BrainclawSettings['brainclaw']): ProjectPlaces {
  const home = findOwnHome();
  const absolute = (path: string): string => resolve(home, path === '~' ? home : path.replace(/^~\//, ''));
  if (is === 'off') return { projects: [], roots: [], depth };
  return { projects: projects.map(absolute), roots: roots.map(absolute), depth };
}
