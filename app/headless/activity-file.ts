import { formatActivityReport, type HiveAlarms, mergeEarlier, type PersonaActivity } from '../../core/alarms/index.ts';
import { toFault } from '../../core/model/index.ts';
import { createTroubleLog } from '../../core/sinks/index.ts';
import { type InboxIdentity, isSameIdentity } from '../../core/sources/index.ts';
import { sweepTemps, writeAtomically } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';
import { readActivityReport } from './check-activity.ts';

type ActivityFileMachine = Pick<Machine, 'disk' | 'random' | 'clock' | 'log'>;

/** The file is written at most this often. */
const LEAST_MS = 1000;

export interface ActivityFile extends Disposable {
  /** Writes the file within a second, and at the latest at disposal. */
  publishSoon(): void;
}

/**
 * Opens the activity file. The report is written atomically with mode 0600, and includes what an earlier process saw. A failure
 * to write is logged once and does not affect the watchers.
 */
export function openActivityFile(
  path: string,
  identity: InboxIdentity,
  alarms: Pick<HiveAlarms, 'activity'>,
  machine: ActivityFileMachine,
): ActivityFile {
  const { disk, random, clock, log } = machine;
  const trouble = createTroubleLog(log);
  // There is no lock. If another process was just writing, it logs that it failed, and writes again.
  sweepTemps(disk, path);
  const earlier = readEarlier(path, identity, machine);
  let last = Number.NEGATIVE_INFINITY;
  let later: Disposable | null = null;

  function publish(): void {
    later?.[Symbol.dispose]();
    later = null;
    last = clock.monotonic();
    try {
      const text = formatActivityReport({ ...mergeEarlier(alarms.activity(), earlier), identity });
      writeAtomically(disk, random, path, text);
      trouble.clear(`${path}: written again`);
    } catch (error) {
      trouble.raise(toFault(error, { is: 'machine', key: `file:${path}` }).explain());
    }
  }

  return {
    publishSoon() {
      const wait = last + LEAST_MS - clock.monotonic();
      if (wait <= 0) publish();
      else later ??= clock.after(wait, publish);
    },
    [Symbol.dispose]() {
      if (last > Number.NEGATIVE_INFINITY) publish(); // else nothing was observed, and the earlier report is as good
    },
  };
}

/**
 * Reads the report of an earlier process, if it is complete and of this hive. Otherwise it logs that the report does not count.
 */
function readEarlier(
  path: string,
  identity: InboxIdentity,
  { disk, log }: ActivityFileMachine,
): ReadonlyMap<string, PersonaActivity> {
  const startAnew = (why: string): ReadonlyMap<string, PersonaActivity> => {
    log.warn(`${path}: ${why}: what was seen before is not known any more, and it begins anew`);
    return new Map();
  };
  try {
    const report = readActivityReport(disk, path);
    if (report === 'none') return new Map();
    if (report === 'foreign') return startAnew('no whole activity report');
    if (report.identity === null) return startAnew('it does not say of which hive it is');
    return isSameIdentity(identity, report.identity) ? report.personas : startAnew('of another hive');
  } catch (error) {
    return startAnew(toFault(error, { is: 'machine', key: `file:${path}` }).message);
  }
}
