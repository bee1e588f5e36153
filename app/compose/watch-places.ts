import type { Disk } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';

type Paths = Map<string, string>;
type PathsOf = (names: Iterable<string>, kept: Paths, spelled?: (name: string) => string) => Paths;

/**
 * The file of each persona by its name; one that joins later takes no path that is in use. At least once names are
 * folded, as the later monitor does (Kijito contract b), unless a file of the name as it is spelled is there: it stays.
 */
export function placesOf(
  plan: WatchPlan,
  { files }: Disk,
  names: readonly string[],
  pathsOf: PathsOf,
): (name: string) => string {
  const places: Paths = new Map();
  const place = (some: readonly string[]): void => {
    const asSpelled = pathsOf(some, places);
    const folded = plan.delivery === 'at-most-once' ? asSpelled : pathsOf(some, places, (name) => name.toLowerCase());
    for (const name of some) {
      const [spelled, fold] = [asSpelled.get(name) ?? name, folded.get(name) ?? name];
      places.set(name, spelled !== fold && isThere(spelled) && !isThere(fold) ? spelled : fold);
    }
  };
  const isThere = (path: string): boolean => {
    try {
      return files.lstat(path) !== null;
    } catch {
      return false; // who opens it says what is wrong
    }
  };
  place(names);
  return (name) => {
    if (!places.has(name)) place([name]);
    return places.get(name) ?? name;
  };
}
