import { type ActivityReport, activityText, createHiveAlarms, type HiveAlarms } from '../../core/alarms/index.ts';
import { faultOf, foldedName } from '../../core/model/index.ts';
import { createTrouble } from '../../core/sinks/index.ts';
import type { Source } from '../../core/sources/index.ts';
import { writeAtomically } from '../../core/state/index.ts';
import type { Rounds, RoundsOptions, Watcher } from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from './machine.ts';
import type { WatchReport } from './watch-report.ts';

/** What a headless watch adds for the sake of its whole hive: nothing at all as revision 6. */
export interface WatchAlarms extends Pick<Rounds, 'renew'> {
  readonly rounds: Pick<RoundsOptions, 'heard'>;
  /** A report that lets the alarms hear what is put. */
  hearing(report: WatchReport): WatchReport;
  joined(watcher: Watcher): Watcher;
}

const NONE: WatchAlarms = { rounds: {}, hearing: (report) => report, joined: (watcher) => watcher, renew: () => {} };
/** The activity file is written no more often, however often the list answers. */
const PUBLISH_LEAST_MS = 1000;

export function watchAlarms(plan: WatchPlan, source: Source, machine: Machine): WatchAlarms {
  if (plan.delivery === 'at-most-once') return NONE;
  const { clock, log } = machine;
  const pollMs = plan.pollSeconds * 1000;
  const alarms = createHiveAlarms({
    source,
    clock,
    log,
    rules: { ...plan.hiveAlarms, pollMs, suppressed: new Set(plan.suppressAuthors.map(foldedName)) },
    staleAfterMs: 3 * pollMs + plan.waitSeconds * 1000,
  });
  const publish = plan.activityFile === null ? () => {} : publisher(plan.activityFile, alarms, machine);
  return {
    rounds: {
      async heard(levels, abort) {
        await alarms.heard(levels, abort);
        publish();
      },
    },
    hearing: (report) => ({
      ...report,
      put(fact) {
        report.put(fact);
        alarms.put(fact);
      },
    }),
    joined(watcher) {
      alarms.joined(watcher);
      return watcher;
    },
    renew: alarms.gap,
  };
}

/** Writes the report, atomically and 0600. What can not be written is said once; nobody is watched the less for it. */
function publisher(path: string, alarms: HiveAlarms, { disk, random, clock, log }: Machine): () => void {
  const trouble = createTrouble(log);
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - last < PUBLISH_LEAST_MS) return;
    last = clock.monotonic();
    const report: ActivityReport = alarms.activity();
    try {
      writeAtomically(disk, random, path, activityText(report));
      trouble.clear(`${path}: written again`);
    } catch (error) {
      trouble.raise(faultOf(error, { is: 'machine', key: `file:${path}` }).explain());
    }
  };
}
