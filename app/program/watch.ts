import { Fault, foldName, toFault } from '../../core/model/index.ts';
import { supervise } from '../../core/services/index.ts';
import { tryEachOnce } from '../../core/sinks/index.ts';
import type { Persona } from '../../core/sources/index.ts';
import type { Lock } from '../../core/state/index.ts';
import {
  createInitialState,
  createScheduler,
  createWatcher,
  detectInterruptions,
  type InterruptionDetector,
  type PollOutcome,
  type Watcher,
  type WatcherRules,
} from '../../core/watcher/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { createWatchAlarms, openWatchSource, type WatchSource } from '../headless/watch-alarms.ts';
import { createWatchPositions, createWatchReport, type WatchReport } from '../headless/watch-positions.ts';
import { createWatchSinks, runSelfTest, type WatchSinks } from '../headless/watch-sinks.ts';
import type { Machine } from '../host/machine.node.ts';
import { catchUpAfterInterruptions } from '../sources/hive-watchers.ts';

/** Polls in flight at once. A few that hang leave room for all others. */
const POLLS_AT_ONCE = 8;

/** Exit codes of `hivebar watch` (docs/contract/headless-watch.md). */
export const EXIT = { clean: 0, selfTestFailed: 1, fatal: 2, readerGone: 4 } as const;

/**
 * Runs the headless watch: one process, any number of inboxes, one sink for each. It follows Kijito spec rev 6, or with
 * `--delivery at-least-once` the behaviour of the later monitor. Returns the exit code when it is asked to stop or fails; the
 * reason is in the log.
 */
export async function runWatch(plan: WatchPlan, machine: Machine): Promise<number> {
  try {
    await using hive = openWatchSource(plan, machine);
    const personas = await findTargets(plan, hive, machine);
    if (plan.selfTest)
      return (await runSelfTest(plan, hive.source, personas, machine)) ? EXIT.clean : EXIT.selfTestFailed;
    await runWatchers(plan, hive, personas, machine);
    return EXIT.clean;
  } catch (error) {
    if (machine.stop.aborted) return EXIT.clean;
    const fault = toFault(error, { is: 'machine', key: 'watch' });
    if (fault.code === 'reader-gone') return EXIT.readerGone; // stdout has already reported this
    machine.log.error(fault.explain());
    return EXIT.fatal;
  }
}

/** @throws Fault when the directory cannot be read at start, which is fatal here (Kijito contract a). */
async function findTargets(plan: WatchPlan, hive: WatchSource, machine: Machine): Promise<readonly Persona[]> {
  const { targets } = plan;
  return targets.is === 'some' ? targets.personas.map(hive.named) : await hive.source.personas(machine.stop);
}

async function runWatchers(
  plan: WatchPlan,
  hive: WatchSource,
  personas: readonly Persona[],
  machine: Machine,
): Promise<void> {
  const { source, named } = hive;
  const readerGone = new AbortController();
  using alarms = createWatchAlarms(plan, hive, machine);
  const report = alarms.addAlarms(createWatchReport(machine.log, readerGone, plan.delivery));
  await using sinks = createWatchSinks(plan, machine, personas);
  const interruptions = detectInterruptions(machine.clock);
  await using supervisor = supervise({ clock: machine.clock, log: machine.log, report: () => {} });
  supervisor.add(interruptions.service);
  const opener = createWatchOpener(plan, hive, sinks, machine, report, personas, interruptions);
  const open = async (persona: Persona, born: boolean): Promise<Watcher> => alarms.joined(await opener(persona, born));
  const refusals: Fault[] = [];
  const watchers: Watcher[] = [];
  for (const persona of personas) {
    try {
      watchers.push(await open(persona, false));
    } catch (error) {
      const fault = toFault(error, { is: 'persona', key: persona.id });
      refusals.push(fault);
      if (personas.length > 1) machine.log.warn(`${persona.id} is not watched: ${fault.explain()}`);
    }
  }
  if (watchers.length === 0)
    throw refusals[0] ?? new Fault('usage', 'there is no persona to watch', { is: 'machine', key: 'watch' });

  const refusedOnce = new Set<string>();
  const scheduler = createScheduler({
    source,
    clock: machine.clock,
    put: report.put,
    intervalMs: plan.pollSeconds * 1000,
    resyncEvery: plan.resyncEvery,
    fastPath: plan.fastPath && source.pending !== undefined,
    holdMs: plan.waitSeconds > 0 ? plan.waitSeconds * 1000 : null,
    pollsAtOnce: POLLS_AT_ONCE,
    adopt:
      plan.targets.is !== 'all'
        ? null
        : {
            everyMs: plan.rediscoverSeconds * 1000,
            toPersona: named,
            async open(persona) {
              // A persona that existed at the start but could not be opened is not newborn: it resumes or is baselined.
              const born = !personas.some((p) => p.address === persona.address);
              try {
                const watcher = await open(persona, born);
                machine.log.info(`${persona.id}: watched from now on`);
                return watcher;
              } catch (error) {
                const text = toFault(error, { is: 'persona', key: persona.id }).explain();
                if (!refusedOnce.has(`${persona.id}\n${text}`))
                  machine.log.warn(`${persona.id} is not watched: ${text}`);
                refusedOnce.add(`${persona.id}\n${text}`);
                return null;
              }
            },
            onRescanFailed: (fault) => machine.log.warn(`rescan of the directory failed: ${fault.explain()}`),
          },
    ...alarms.schedulerOptions,
    onPolled: createStartFaultCheck(plan, watchers),
  });
  using _poke = machine.onPoke(() => scheduler.poke(false));
  using _gaps = catchUpAfterInterruptions({
    interruptions,
    watchers: [alarms, scheduler],
    put: report.put,
    log: machine.log,
  });
  machine.log.info(`watching ${watchers.length} of ${personas.length} personas, pid ${machine.pid}`);
  machine.atRest();
  await scheduler.run(watchers, AbortSignal.any([machine.stop, readerGone.signal]));
  if (!machine.stop.aborted) readerGone.signal.throwIfAborted();
}

/** Opens the lock, state, sink and watcher of one persona. @throws Fault; nothing stays open then. */
function createWatchOpener(
  plan: WatchPlan,
  { source, identity }: WatchSource,
  sinks: WatchSinks,
  machine: Machine,
  report: WatchReport,
  personas: readonly Persona[],
  { isSettling: settling }: InterruptionDetector,
) {
  const run = machine.random.hex(8);
  const anonymous = plan.targets.is === 'url';
  const positions = createWatchPositions(plan, identity, machine, report, personas);

  return async (persona: Persona, born: boolean): Promise<Watcher> => {
    const { lock, start, saved, saver } = positions(persona, born);
    using cleanUp = new DisposableStack();
    if (lock !== null) cleanUp.use(lock);
    if (start.is === 'baseline') report.baseline(persona.id);
    const target = sinks.getSink(persona);
    const sink = report.sink(persona.id, plan.delivery === 'at-most-once' ? tryEachOnce(target) : target);
    const tail = await sink.open();
    const rules: WatcherRules = {
      persona: anonymous ? null : persona.id,
      address: persona.address,
      source: source.kind,
      run,
      pollSeconds: plan.pollSeconds,
      alertAfter: plan.alertAfter,
      maxReplay: plan.maxReplay,
      heartbeatMs: plan.heartbeatSeconds === null ? null : plan.heartbeatSeconds * 1000,
      suppressed: new Set(plan.suppressAuthors.map(foldName)),
      delivery: plan.delivery,
      silenced: plan.silenced,
    };
    const watcher = createWatcher({
      persona,
      source,
      sink,
      saver,
      rules,
      state: createInitialState(machine.clock.now(), start, saved, tail, rules),
      clock: machine.clock,
      put: report.put,
      settling,
    });
    cleanUp.move();
    return lock === null ? watcher : holdLock(watcher, lock);
  };
}

/** Holds the lock as long as the watcher runs. */
function holdLock(watcher: Watcher, lock: Lock): Watcher {
  return {
    persona: watcher.persona,
    poll: (...how) => watcher.poll(...how),
    beat: (abort) => watcher.beat(abort),
    deliverAlarm: (alarm, abort) => watcher.deliverAlarm(alarm, abort),
    hearAgent: (state, abort) => watcher.hearAgent(state, abort),
    waitForAll: () => watcher.waitForAll(),
    get state() {
      return watcher.state;
    },
    get retryAt() {
      return watcher.retryAt;
    },
    get walkAt() {
      return watcher.walkAt;
    },
    get isDelivering() {
      return watcher.isDelivering;
    },
    async [Symbol.asyncDispose]() {
      await watcher[Symbol.asyncDispose]();
      lock[Symbol.dispose]();
    },
  };
}

/**
 * Faults that mean a wrong configuration when they come at the first poll: 404; for a `--url` also a redirect or a blocked
 * address; with at-least-once delivery also a refused token. Later they are failures like any other (Kijito contract a, b, f).
 */
function createStartFaultCheck(plan: WatchPlan, watchers: readonly Watcher[]) {
  const notPolled = new Set(watchers); // a persona adopted later is not part of the start
  return (watcher: Watcher, outcome: PollOutcome): void => {
    if (!notPolled.delete(watcher) || outcome.is !== 'failed') return;
    const { code, message } = outcome.fault;
    const fatal =
      code === 'not-found' ||
      // A 403 has the same code but counts as a failure, because a proxy in front of the hive may answer it, too.
      (plan.delivery === 'at-least-once' && code === 'unauthorized' && message.includes('answered 401')) ||
      (plan.targets.is === 'url' && (code === 'redirect' || code === 'bad-url' || code === 'blocked'));
    if (fatal) throw outcome.fault;
  };
}
