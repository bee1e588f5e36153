import { resolve } from 'node:path';
import type { ProjectPlaces } from '../../core/sources/brainclaw/index.ts';
import { findOwnHome } from '../../core/state/index.ts';
import type { Settings } from '../config/tray/index.ts';

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
}: Settings['brainclaw']): ProjectPlaces {
  const home = findOwnHome();
  const absolute = (path: string): string => resolve(home, path === '~' ? home : path.replace(/^~\//, ''));
  if (is === 'off') return { projects: [], roots: [], depth };
  return { projects: projects.map(absolute), roots: roots.map(absolute), depth };
}
