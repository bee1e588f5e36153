import {
  type ActivityQuestion,
  type ActivityReport,
  type ActivityVerdict,
  checkActivity,
  createHiveAlarms,
  formatActivityReport,
  type HiveAlarms,
  mergeEarlier,
  type PersonaActivity,
  parseActivityReport,
} from '../../core/alarms/index.ts';
import { foldName, type Instant, type Scope, toFault } from '../../core/model/index.ts';
import {
  AS_WRITTEN,
  createHttpClient,
  createPublicPolicy,
  createTokenFileCredentials,
  formatUrl,
  readCredential,
} from '../../core/net/index.ts';
import { createTroubleLog } from '../../core/services/index.ts';
import {
  createHttpHive,
  createKijitoSource,
  type InboxIdentity,
  isSameIdentity,
  type Persona,
  parseHiveUrl,
  parseInboxUrl,
  type Source,
  toInboxIdentity,
} from '../../core/sources/index.ts';
import { type Disk, readPrivate, sweepTemps, writeAtomically } from '../../core/state/index.ts';
import type { Scheduler, SchedulerOptions, Watcher } from '../../core/watcher/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { readVersion } from '../package.node.ts';
import type { WatchReport } from './watch-positions.ts';

/** What a headless watch adds for its whole hive. Under revision 6 it adds nothing. Disposing it publishes what it knows. */
interface WatchAlarms extends Pick<Scheduler, 'renew'>, Disposable {
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

type ActivityFileMachine = Pick<Machine, 'disk' | 'random' | 'clock' | 'log'>;

/** The file is written at most this often. */
const LEAST_MS = 1000;

interface ActivityFile extends Disposable {
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
      trouble.clear(`${path} is written again`);
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
    log.warn(`${path}: ${why}; the activity recorded before is lost, and recording starts over`);
    return new Map();
  };
  try {
    const report = readActivityReport(disk, path);
    if (report === 'none') return new Map();
    if (report === 'foreign') return startAnew('it is not a complete activity report');
    if (report.identity === null) return startAnew('it does not name its hive');
    return isSameIdentity(identity, report.identity) ? report.personas : startAnew('it belongs to another hive');
  } catch (error) {
    return startAnew(toFault(error, { is: 'machine', key: `file:${path}` }).message);
  }
}

/** Exit codes of `hivebar watch --check-activity` (Kijito contract c). */
export const ACTIVITY_EXIT: Readonly<Record<ActivityVerdict['is'], number>> = { active: 0, silent: 1, unobservable: 2 };

/** Larger than any report that Hivebar writes. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Returns what the activity file says about one persona. A file that is missing or cannot be read says nothing about anybody. */
export function askActivity(disk: Disk, path: string, question: ActivityQuestion, now: Instant): ActivityVerdict {
  const unobservable = (words: string): ActivityVerdict => ({
    is: 'unobservable',
    words: `${question.persona}: ${words}: not observable`,
  });
  try {
    const report = readActivityReport(disk, path);
    if (report === 'none') return unobservable(`${path} does not exist`);
    return report === 'foreign'
      ? unobservable(`${path} is not an activity report`)
      : checkActivity(report, question, now);
  } catch (error) {
    return unobservable(toFault(error, { is: 'machine', key: `file:${path}` }).message);
  }
}

/** Reads the report at that path. `foreign` means that the file is something else or incomplete. @throws Fault `unreadable` */
function readActivityReport(disk: Disk, path: string): ActivityReport | 'none' | 'foreign' {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  return bytes === null ? 'none' : (parseActivityReport(Buffer.from(bytes).toString('utf8')) ?? 'foreign');
}

export interface WatchSource extends AsyncDisposable {
  readonly source: Source;
  /** Says which inbox a saved position belongs to. */
  identity(persona: Persona): InboxIdentity;
  /** Returns a name of the hive as a persona of this watch. In a headless watch the ids are the bare names. */
  named(address: string): Persona;
}

/**
 * Opens the hive or the single inbox that a headless watch polls.
 * @throws Fault `bad-url`, `blocked`, `unreadable` or `usage` for what the user wrote
 */
export function openWatchSource(plan: WatchPlan, machine: Machine): WatchSource {
  const { targets, contentChars } = plan;
  const { clock } = machine;
  const scope: Scope = { is: 'source', key: 'kijito' };
  const isUrl = targets.is === 'url';
  const hive = isUrl ? parseInboxUrl(targets.url, scope) : parseHiveUrl(plan.hive, scope);
  const policy = isUrl
    ? createPublicPolicy({ loopback: targets.allowLoopback, private: targets.allowPrivate })
    : AS_WRITTEN;
  const fetcher = createHttpClient({
    url: isUrl ? targets.url : plan.hive,
    policy,
    scope,
    userAgent: `hivebar/${readVersion()}`,
    credential: readWatchCredential(plan, machine, scope),
  });
  const client = createHttpHive({
    hive,
    fetcher,
    clock,
    contentChars,
    longPoll: plan.waitSeconds > 0,
    scope,
    log: machine.log,
  });
  const named = (address: string): Persona => ({ id: address, address, label: address });
  const source = createKijitoSource({
    id: 'kijito',
    client,
    clock,
    members: isUrl
      ? { is: 'single', persona: { id: '_', address: '', label: formatUrl(hive.inbox('')) } }
      : { is: 'directory', prefix: '', reserved: [] },
  });
  return {
    source,
    identity: (persona) => toInboxIdentity(hive.inbox(persona.address)),
    named,
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/**
 * The file is read at once, because a file that cannot be read is the user's mistake. It is read again whenever its token is
 * refused.
 */
function readWatchCredential({ tokenFile, authHeader }: WatchPlan, { clock, log, env }: Machine, scope: Scope) {
  const held = readCredential({ tokenFile, tokenVariable: env.KIJITOMON_TOKEN, authHeader }, log);
  if (tokenFile === null || held === null) return held;
  return createTokenFileCredentials({ path: tokenFile, scope, clock, log, authHeader, held });
}
