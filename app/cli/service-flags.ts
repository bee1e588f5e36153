import { isAbsolute, join, sep } from 'node:path';
import { toUsageFault } from '../../core/command/index.ts';
import { parseWatch, type WatchPlan } from '../config/watch/index.ts';

/** The flags of the headless service, and the plan that they describe. */
interface ServiceFlags {
  /** All flags: our defaults, then those that were given. */
  readonly flags: readonly string[];
  readonly plan: WatchPlan;
  readonly warnings: readonly string[];
}

const HEARTBEAT_SECONDS = 120;

/**
 * Completes the flags of the headless service: a position file, an event file per persona and a heartbeat are added where they
 * were not given (Kijito contract i). The parser of `hivebar watch` checks them.
 *
 * @param directory where the service stores its files
 * @throws Fault `usage`, also for flags that a service cannot have: a relative path, a cache, `--seed-at`, and flags of runs
 * that end on their own
 */
export function parseServiceFlags(directory: string, args: readonly string[]): ServiceFlags {
  const plan = parsePlan(args).plan;
  if (plan.selfTest)
    throw toRefusal('--self-test: it ends by itself, so it cannot be a service; run hivebar watch --self-test by hand');
  if (plan.checkActivity !== null)
    throw toRefusal('--check-activity: it answers and ends, so it cannot be a service; run it by hand');
  if (plan.seedAt !== null)
    throw toRefusal(
      `--seed-at ${plan.seedAt}: every restart would start there again, and deliver everything after it again`,
    );
  for (const [flag, path] of listPaths(plan)) {
    if (!isAbsolute(path))
      throw toRefusal(`${flag} ${path}: must be an absolute path, because a service starts in another folder`);
    if (flag !== '--token-file' && isCache(path))
      throw toRefusal(`${flag} ${path}: is in a cache, which cleaners empty; leave it out, or use a state directory`);
  }
  const flags = [
    ...(plan.stateFile === null ? ['--state-file', join(directory, 'hive.json')] : []),
    ...(plan.emit.is === 'stdout' ? ['--events-file-template', join(directory, 'events.{persona}.ndjson')] : []),
    ...(plan.heartbeatSeconds === null ? ['--heartbeat', String(HEARTBEAT_SECONDS)] : []),
    ...args,
  ];
  return { flags, ...parsePlan(flags) };
}

function parsePlan(args: readonly string[]): { readonly plan: WatchPlan; readonly warnings: readonly string[] } {
  const parsed = parseWatch(args);
  if (parsed.is === 'usage') throw toRefusal(parsed.message);
  return parsed;
}

function toRefusal(message: string): Error {
  return toUsageFault(new Error(message));
}

function listPaths({ stateFile, tokenFile, activityFile, emit }: WatchPlan): readonly (readonly [string, string])[] {
  const paths: readonly (readonly [string, string | null])[] = [
    ['--state-file', stateFile],
    ['--token-file', tokenFile],
    ['--activity-file', activityFile],
    ['--events-file', emit.is === 'file' ? emit.path : null],
    ['--events-file-template', emit.is === 'template' ? emit.template : null],
  ];
  return paths.flatMap(([flag, path]) => (path === null ? [] : [[flag, path] as const]));
}

/** Whether a path is in a cache folder (Kijito contract, trap 38). */
function isCache(path: string): boolean {
  const steps = path.split(sep);
  return steps.includes('.cache') || steps.join('/').includes('/Library/Caches/');
}
