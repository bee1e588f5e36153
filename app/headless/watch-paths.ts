import type { Disk } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';

type PathsByName = Map<string, string>;
type PathAssigner = (names: Iterable<string>, assigned: PathsByName, spelled?: (name: string) => string) => PathsByName;

/**
 * Returns the file of each persona by its name. A persona that joins later gets no path that is in use. With at-least-once
 * delivery names are folded, as the later monitor does (Kijito contract b), unless a file with the exact spelling exists: that
 * file is used.
 */
export function createPathFinder(
  plan: WatchPlan,
  { files }: Disk,
  names: readonly string[],
  assignPaths: PathAssigner,
): (name: string) => string {
  const places: PathsByName = new Map();
  const assign = (newNames: readonly string[]): void => {
    const asSpelled = assignPaths(newNames, places);
    const folded =
      plan.delivery === 'at-most-once' ? asSpelled : assignPaths(newNames, places, (name) => name.toLowerCase());
    for (const name of newNames) {
      const [spelled, fold] = [asSpelled.get(name) ?? name, folded.get(name) ?? name];
      places.set(name, spelled !== fold && isThere(spelled) && !isThere(fold) ? spelled : fold);
    }
  };
  const isThere = (path: string): boolean => {
    try {
      return files.lstat(path) !== null;
    } catch {
      return false; // opening it reports what is wrong
    }
  };
  assign(names);
  return (name) => {
    if (!places.has(name)) assign([name]);
    return places.get(name) ?? name;
  };
}
