import { accessSync, constants, statSync } from 'node:fs';
import { type Finding, fail, ok, skipped, warn } from '../module.ts';
import { realChildren } from './child.node.ts';
import { type ExternalSettings, type ExternalSource, formatAddress } from './settings.ts';

/** What is wrong with a source, and the next step. */
interface Flaw {
  readonly seen: string;
  readonly next: string;
}

const MOST_NAMED = 3;

/**
 * Judges the sources of the settings by what is on the disk; nothing is run. What a program says is checked by `hivebar source check`,
 * and how it does now by `hivebar source show`.
 */
export function checkSources({ sources }: ExternalSettings): Finding {
  if (sources.length === 0) return skipped('no source of your own');
  const flaws = sources.flatMap((source) => findFlaw(source) ?? []);
  if (flaws.length > 0) return fail(formatFlaws(flaws), flaws[0]?.next ?? '');
  const doubles = findDoubles(sources);
  if (doubles.length > 0) return warn(formatFlaws(doubles), doubles[0]?.next ?? '');
  return ok(sources.map(({ name, is }) => `${name} (${is})`).join(', '));
}

function formatFlaws(flaws: readonly Flaw[]): string {
  const rest = flaws.length - MOST_NAMED;
  const named = flaws.slice(0, MOST_NAMED).map(({ seen }) => seen);
  return `${named.join('; ')}${rest > 0 ? ` (and ${rest} more)` : ''}`;
}

function findFlaw({ name, is, argv, cwd, path }: ExternalSource): Flaw | null {
  if (cwd !== undefined && !isFolder(cwd))
    return {
      seen: `${name}: its folder ${cwd} does not exist`,
      next: `make it, then run hivebar source restart ${name}`,
    };
  const defect = argv === undefined ? null : realChildren.findDefect(argv, cwd ?? '/');
  if (defect !== null)
    return { seen: `${name}: ${defect}`, next: `correct that, then run hivebar source restart ${name}` };
  if (path === undefined) return null;
  const isThere = is === 'maildir' ? isFolder(path) : realChildren.isFile(path);
  const thing = is === 'maildir' ? 'folder' : 'file';
  if (!isThere)
    return {
      seen: `${name}: there is no ${thing} ${path}`,
      next: `run the program that writes it, or hivebar source remove ${name}`,
    };
  if (!isReadable(path, is === 'maildir'))
    return { seen: `${name}: ${path} cannot be read`, next: 'check its owner and mode' };
  return null;
}

/** Two sources that read one place show all of its mail twice. */
function findDoubles(sources: readonly ExternalSource[]): readonly Flaw[] {
  const byPlace = Map.groupBy(sources, (source) => JSON.stringify([formatAddress(source), source.cwd, source.env]));
  return [...byPlace.values()].flatMap((members): readonly Flaw[] => {
    const [first, ...others] = members;
    if (first === undefined || others.length === 0) return [];
    const names = members.map(({ name }) => name).join(' and ');
    return [
      {
        seen: `${names} read the same: ${formatAddress(first)}; all of its mail is there twice`,
        next: `hivebar source remove ${others[0]?.name}`,
      },
    ];
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isReadable(path: string, isDirectory: boolean): boolean {
  try {
    accessSync(path, isDirectory ? constants.R_OK | constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false; // whatever the reason is, its owner and mode say it
  }
}
