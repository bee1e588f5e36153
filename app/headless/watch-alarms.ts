import { createHiveAlarms } from '../../core/alarms/index.ts';
import { foldName } from '../../core/model/index.ts';
import type { Scheduler, SchedulerOptions, Watcher } from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.ts';
import { openActivityFile } from './activity-file.ts';
import type { WatchReport } from './watch-report.ts';
import type { WatchSource } from './watch-source.ts';

/** What a headless watch adds for its whole hive. Under revision 6 it adds nothing. Disposing it publishes what it knows. */
export interface WatchAlarms extends Pick<Scheduler, 'renew'>, Disposable {
  readonly schedulerOptions: Pick<SchedulerOptions, 'onPendingList'>;
  /** Returns a report that passes its facts to the alarms, too. */
  addAlarms(report: WatchReport): WatchReport;
  joined(watcher: Watcher): Watcher;
}

const NO_ALARMS: WatchAlarms = {
  schedulerOptions: {},
  addAlarms: (report) => report,
  joined: (watcher) => watcher,
  renew: () => {},
  [Symbol.dispose]: () => {},
};

export function createWatchAlarms(plan: WatchPlan, hive: WatchSource, machine: Machine): WatchAlarms {
  if (plan.delivery === 'at-most-once') return NO_ALARMS;
  const { clock, log } = machine;
  const pollMs = plan.pollSeconds * 1000;
  const alarms = createHiveAlarms({
    source: hive.source,
    clock,
    log,
    rules: { ...plan.hiveAlarms, pollMs, suppressed: new Set(plan.suppressAuthors.map(foldName)) },
    staleAfterMs: 3 * pollMs + plan.waitSeconds * 1000,
  });
  const identity = hive.identity(hive.named(''));
  const publishedFile =
    plan.activityFile === null ? null : openActivityFile(plan.activityFile, identity, alarms, machine);
  return {
    schedulerOptions: {
      async onPendingList(levels, abort) {
        await alarms.hearPendingList(levels, abort);
        publishedFile?.publishSoon();
      },
    },
    addAlarms: (report) => ({
      ...report,
      put(fact) {
        report.put(fact);
        alarms.put(fact);
      },
    }),
    joined(watcher) {
      alarms.addWatcher(watcher);
      return watcher;
    },
    renew: alarms.noteInterruption,
    [Symbol.dispose]: () => publishedFile?.[Symbol.dispose](),
  };
}
