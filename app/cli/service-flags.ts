import { isAbsolute, join, sep } from 'node:path';
import { parseWatch, type WatchPlan } from '../config/watch/index.ts';
import { usage } from './outcome.ts';

/** What the headless service is to watch. */
export interface ServiceFlags {
  /** All flags, ours before those that were given. */
  readonly flags: readonly string[];
  readonly plan: WatchPlan;
  readonly warnings: readonly string[];
}

const HEARTBEAT_SECONDS = 120;

/**
 * The flags of the headless service: those that were given, and a position file, an event file per persona and a heartbeat
 * where they were not (Kijito contract i). Checked by the parser of `hivebar watch`.
 *
 * @param directory where the service keeps its files
 * @throws Fault `usage`, also for what a service can not have: a relative path, a cache, `--seed-at`, what ends by
 * itself
 */
export function serviceFlags(directory: string, given: readonly string[]): ServiceFlags {
  const asked = planOf(given).plan;
  if (asked.selfTest) throw refused('--self-test: ends by itself; run hivebar watch --self-test by hand');
  if (asked.checkActivity !== null) throw refused('--check-activity: answers and ends; run it by hand');
  if (asked.seedAt !== null)
    throw refused(
      `--seed-at ${asked.seedAt}: every restart would begin there again, and tell everything after it again`,
    );
  for (const [flag, path] of pathsOf(asked)) {
    if (!isAbsolute(path))
      throw refused(`${flag} ${path}: must be an absolute path; a service starts in another folder`);
    if (flag !== '--token-file' && isCache(path))
      throw refused(`${flag} ${path}: is in a cache, which cleaners empty; leave it out, or give a place for state`);
  }
  const flags = [
    ...(asked.stateFile === null ? ['--state-file', join(directory, 'hive.json')] : []),
    ...(asked.emit.is === 'stdout' ? ['--events-file-template', join(directory, 'events.{persona}.ndjson')] : []),
    ...(asked.heartbeatSeconds === null ? ['--heartbeat', String(HEARTBEAT_SECONDS)] : []),
    ...given,
  ];
  return { flags, ...planOf(flags) };
}

function planOf(args: readonly string[]): { readonly plan: WatchPlan; readonly warnings: readonly string[] } {
  const parsed = parseWatch(args);
  if (parsed.is === 'usage') throw refused(parsed.message);
  return parsed;
}

function refused(message: string): Error {
  return usage(new Error(message));
}

function pathsOf({ stateFile, tokenFile, activityFile, emit }: WatchPlan): readonly (readonly [string, string])[] {
  const all: readonly (readonly [string, string | null])[] = [
    ['--state-file', stateFile],
    ['--token-file', tokenFile],
    ['--activity-file', activityFile],
    ['--events-file', emit.is === 'file' ? emit.path : null],
    ['--events-file-template', emit.is === 'template' ? emit.template : null],
  ];
  return all.flatMap(([flag, path]) => (path === null ? [] : [[flag, path] as const]));
}

/** Kijito contract, trap 38. */
function isCache(path: string): boolean {
  const steps = path.split(sep);
  return steps.includes('.cache') || steps.join('/').includes('/Library/Caches/');
}
