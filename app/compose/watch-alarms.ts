import {
  activityText,
  createHiveAlarms,
  type HiveAlarms,
  type Observed,
  withEarlier,
} from '../../core/alarms/index.ts';
import { faultOf, foldedName } from '../../core/model/index.ts';
import { createTrouble } from '../../core/sinks/index.ts';
import { type Identity, sameIdentity } from '../../core/sources/index.ts';
import { writeAtomically } from '../../core/state/index.ts';
import type { Rounds, RoundsOptions, Watcher } from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { reportIn } from './check-activity.ts';
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
/** The activity file is written no more often, however often the list answers. */
const PUBLISH_LEAST_MS = 1000;

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
  const published = plan.activityFile === null ? null : publisher(plan.activityFile, identity, alarms, machine);
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

interface Publisher extends Disposable {
  /** Within a second, and at the latest when it is disposed. */
  soon(): void;
}

/**
 * Writes the report, atomically and 0600; what an earlier process saw stays in it. What can not be written is said once;
 * nobody is watched the less for it.
 */
function publisher(path: string, identity: Identity, alarms: HiveAlarms, machine: Machine): Publisher {
  const { disk, random, clock, log } = machine;
  const trouble = createTrouble(log);
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
      const wait = last + PUBLISH_LEAST_MS - clock.monotonic();
      if (wait <= 0) publish();
      else later ??= clock.after(wait, publish);
    },
    [Symbol.dispose]() {
      if (last > Number.NEGATIVE_INFINITY) publish(); // else nothing was observed, and the report of before is no worse
    },
  };
}

/** What stands in the report of an earlier process, if it is whole and of this hive; else it is said that it does not count. */
function seenEarlier(path: string, identity: Identity, { disk, log }: Machine): ReadonlyMap<string, Observed> {
  const anew = (why: string): ReadonlyMap<string, Observed> => {
    log.warn(`${path}: ${why}: what was seen before is not known any more, and it begins anew`);
    return new Map();
  };
  try {
    const report = reportIn(disk, path);
    if (report === 'none') return new Map();
    if (report === 'foreign') return anew('no whole activity report');
    return sameIdentity(identity, report.identity) ? report.personas : anew('of another hive');
  } catch (error) {
    return anew(faultOf(error, { is: 'machine', key: `file:${path}` }).message);
  }
}
