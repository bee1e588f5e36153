import { createHiveAlarms } from '../../core/alarms/index.ts';
import { foldedName } from '../../core/model/index.ts';
import type { Rounds, RoundsOptions, Watcher } from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { activityFile } from './activity-file.ts';
import type { Machine } from './machine.ts';
import type { WatchReport } from './watch-report.ts';
import type { WatchSource } from './watch-source.ts';

/** What a headless watch adds for the sake of its whole hive: nothing at all as revision 6. Disposed, it publishes what it knows. */
export interface WatchAlarms extends Pick<Rounds, 'renew'>, Disposable {
  readonly rounds: Pick<RoundsOptions, 'heard'>;
  /** A report that lets the alarms hear what is put. */
  hearing(report: WatchReport): WatchReport;
  joined(watcher: Watcher): Watcher;
}

const NONE: WatchAlarms = {
  rounds: {},
  hearing: (report) => report,
  joined: (watcher) => watcher,
  renew: () => {},
  [Symbol.dispose]: () => {},
};

export function watchAlarms(plan: WatchPlan, hive: WatchSource, machine: Machine): WatchAlarms {
  if (plan.delivery === 'at-most-once') return NONE;
  const { clock, log } = machine;
  const pollMs = plan.pollSeconds * 1000;
  const alarms = createHiveAlarms({
    source: hive.source,
    clock,
    log,
    rules: { ...plan.hiveAlarms, pollMs, suppressed: new Set(plan.suppressAuthors.map(foldedName)) },
    staleAfterMs: 3 * pollMs + plan.waitSeconds * 1000,
  });
  const identity = hive.identity(hive.named(''));
  const published = plan.activityFile === null ? null : activityFile(plan.activityFile, identity, alarms, machine);
  return {
    rounds: {
      async heard(levels, abort) {
        await alarms.heard(levels, abort);
        published?.soon();
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
    [Symbol.dispose]: () => published?.[Symbol.dispose](),
  };
}
