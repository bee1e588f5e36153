import { activityText, type HiveAlarms, type Observed, withEarlier } from '../../core/alarms/index.ts';
import { faultOf } from '../../core/model/index.ts';
import { createTrouble } from '../../core/sinks/index.ts';
import { type Identity, sameIdentity } from '../../core/sources/index.ts';
import { sweepTemps, writeAtomically } from '../../core/state/index.ts';
import { reportIn } from './check-activity.ts';
import type { Machine } from './machine.ts';

type ForFile = Pick<Machine, 'disk' | 'random' | 'clock' | 'log'>;

/** The file is written no more often, however often something happens. */
const LEAST_MS = 1000;

export interface ActivityFile extends Disposable {
  /** Within a second, and at the latest when it is disposed. */
  soon(): void;
}

/**
 * Writes the report, atomically and 0600; what an earlier process saw stays in it. What can not be written is said once;
 * nobody is watched the less for it.
 */
export function activityFile(
  path: string,
  identity: Identity,
  alarms: Pick<HiveAlarms, 'activity'>,
  machine: ForFile,
): ActivityFile {
  const { disk, random, clock, log } = machine;
  const trouble = createTrouble(log);
  // Without a lock: if another process wrote just now, it says that it could not, and writes again.
  sweepTemps(disk, path);
  const earlier = seenEarlier(path, identity, machine);
  let last = Number.NEGATIVE_INFINITY;
  let later: Disposable | null = null;

  function publish(): void {
    later?.[Symbol.dispose]();
    later = null;
    last = clock.monotonic();
    try {
      const text = activityText({ ...withEarlier(alarms.activity(), earlier), identity });
      writeAtomically(disk, random, path, text);
      trouble.clear(`${path}: written again`);
    } catch (error) {
      trouble.raise(faultOf(error, { is: 'machine', key: `file:${path}` }).explain());
    }
  }

  return {
    soon() {
      const wait = last + LEAST_MS - clock.monotonic();
      if (wait <= 0) publish();
      else later ??= clock.after(wait, publish);
    },
    [Symbol.dispose]() {
      if (last > Number.NEGATIVE_INFINITY) publish(); // else nothing was observed, and the report of before is no worse
    },
  };
}

/** What stands in the report of an earlier process, if it is whole and of this hive; else it is said that it does not count. */
function seenEarlier(path: string, identity: Identity, { disk, log }: ForFile): ReadonlyMap<string, Observed> {
  const anew = (why: string): ReadonlyMap<string, Observed> => {
    log.warn(`${path}: ${why}: what was seen before is not known any more, and it begins anew`);
    return new Map();
  };
  try {
    const report = reportIn(disk, path);
    if (report === 'none') return new Map();
    if (report === 'foreign') return anew('no whole activity report');
    if (report.identity === null) return anew('it does not say of which hive it is');
    return sameIdentity(identity, report.identity) ? report.personas : anew('of another hive');
  } catch (error) {
    return anew(faultOf(error, { is: 'machine', key: `file:${path}` }).message);
  }
}
