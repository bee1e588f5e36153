import { Fault, faultOf, foldedName } from '../../core/model/index.ts';
import { tryEachOnce } from '../../core/sinks/index.ts';
import type { Persona } from '../../core/sources/index.ts';
import type { Lock } from '../../core/state/index.ts';
import {
  createRounds,
  createWatcher,
  type LookOutcome,
  openWatch,
  type Rules,
  type Wakefulness,
  type Watcher,
  watchGaps,
} from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { catchUpAfterGaps } from './catch-up.ts';
import type { Machine } from './machine.ts';
import { selfTest } from './self-test.ts';
import { watchAlarms } from './watch-alarms.ts';
import { watchPositions } from './watch-position.ts';
import { type WatchReport, watchReport } from './watch-report.ts';
import { type WatchSinks, watchSinks } from './watch-sinks.ts';
import { type WatchSource, watchSource } from './watch-source.ts';

/** Looks in flight at once: a few that hang leave room for all others. */
const LOOKS_AT_ONCE = 8;

/** Exit codes of `hivebar watch` (docs/CONTRACT.md). */
export const EXIT = { clean: 0, selfTestFailed: 1, fatal: 2, readerGone: 4 } as const;

/**
 * The headless watch: one process, any number of inboxes, one sink each (Kijito spec rev 6, or with
 * `--delivery at-least-once` what the later monitor learned). Runs until it is asked to
 * stop; returns the exit code, having said on the log why.
 */
export async function runWatch(plan: WatchPlan, machine: Machine): Promise<number> {
  try {
    await using hive = watchSource(plan, machine);
    const personas = await targetsOf(plan, hive, machine);
    if (plan.selfTest) return (await selfTest(plan, hive.source, personas, machine)) ? EXIT.clean : EXIT.selfTestFailed;
    await watch(plan, hive, personas, machine);
    return EXIT.clean;
  } catch (error) {
    if (machine.stop.aborted) return EXIT.clean;
    const fault = faultOf(error, { is: 'machine', key: 'watch' });
    if (fault.code === 'reader-gone') return EXIT.readerGone; // stdout has said it
    machine.log.error(fault.explain());
    return EXIT.fatal;
  }
}

/** @throws Fault when the directory can't be read at start, which is fatal here (Kijito contract a). */
async function targetsOf(plan: WatchPlan, hive: WatchSource, machine: Machine): Promise<readonly Persona[]> {
  const { targets } = plan;
  return targets.is === 'some' ? targets.personas.map(hive.named) : await hive.source.personas(machine.stop);
}

async function watch(
  plan: WatchPlan,
  hive: WatchSource,
  personas: readonly Persona[],
  machine: Machine,
): Promise<void> {
  const { source, named } = hive;
  const gone = new AbortController();
  using alarms = watchAlarms(plan, hive, machine);
  const report = alarms.hearing(watchReport(machine.log, gone, plan.delivery));
  await using sinks = watchSinks(plan, machine, personas);
  using wakefulness = watchGaps(machine.clock);
  const opener = watchOpener(plan, hive, sinks, machine, report, personas, wakefulness);
  const open = async (persona: Persona, born: boolean): Promise<Watcher> => alarms.joined(await opener(persona, born));
  const refused: Fault[] = [];
  const watchers: Watcher[] = [];
  for (const persona of personas) {
    try {
      watchers.push(await open(persona, false));
    } catch (error) {
      const fault = faultOf(error, { is: 'persona', key: persona.id });
      refused.push(fault);
      if (personas.length > 1) machine.log.warn(`${persona.id} is not watched: ${fault.explain()}`);
    }
  }
  if (watchers.length === 0)
    throw refused[0] ?? new Fault('usage', 'there is no persona to watch', { is: 'machine', key: 'watch' });

  const refusedOnce = new Set<string>();
  const rounds = createRounds({
    source,
    clock: machine.clock,
    put: report.put,
    intervalMs: plan.pollSeconds * 1000,
    resyncEvery: plan.resyncEvery,
    fastPath: plan.fastPath && source.pending !== undefined,
    holdMs: plan.waitSeconds > 0 ? plan.waitSeconds * 1000 : null,
    looksAtOnce: LOOKS_AT_ONCE,
    adopt:
      plan.targets.is !== 'all'
        ? null
        : {
            everyMs: plan.rediscoverSeconds * 1000,
            named,
            async open(persona) {
              // One that was there at the start and could not be opened is no newborn: it resumes or is baselined.
              const born = !personas.some((p) => p.address === persona.address);
              try {
                const watcher = await open(persona, born);
                machine.log.info(`${persona.id}: watched from now on`);
                return watcher;
              } catch (error) {
                const text = faultOf(error, { is: 'persona', key: persona.id }).explain();
                if (!refusedOnce.has(`${persona.id}\n${text}`))
                  machine.log.warn(`${persona.id} is not watched: ${text}`);
                refusedOnce.add(`${persona.id}\n${text}`);
                return null;
              }
            },
            rescanFailed: (fault) => machine.log.warn(`rescan of the directory failed: ${fault.explain()}`),
          },
    ...alarms.rounds,
    looked: fatalAtStart(plan, watchers),
  });
  using _poke = machine.onPoke(() => rounds.poke(false));
  using _gaps = catchUpAfterGaps({ wakefulness, watches: [alarms, rounds], put: report.put, log: machine.log });
  machine.log.info(`watching ${watchers.length} of ${personas.length} personas, pid ${machine.pid}`);
  machine.atRest();
  await rounds.run(watchers, AbortSignal.any([machine.stop, gone.signal]));
  if (!machine.stop.aborted) gone.signal.throwIfAborted();
}

/** Opens one persona's lock, state, sink and watch. @throws Fault; nothing stays open then. */
function watchOpener(
  plan: WatchPlan,
  { source, identity }: WatchSource,
  sinks: WatchSinks,
  machine: Machine,
  report: WatchReport,
  personas: readonly Persona[],
  { settling }: Wakefulness,
) {
  const run = machine.random.hex(8);
  const anonymous = plan.targets.is === 'url';
  const positions = watchPositions(plan, identity, machine, report, personas);

  return async (persona: Persona, born: boolean): Promise<Watcher> => {
    const { lock, start, saved, saver } = positions(persona, born);
    using cleanUp = new DisposableStack();
    if (lock !== null) cleanUp.use(lock);
    if (start.is === 'baseline') report.baseline(persona.id);
    const target = sinks.of(persona);
    const sink = report.sink(persona.id, plan.delivery === 'at-most-once' ? tryEachOnce(target) : target);
    const tail = await sink.open();
    const rules: Rules = {
      persona: anonymous ? null : persona.id,
      address: persona.address,
      source: source.kind,
      run,
      pollSeconds: plan.pollSeconds,
      alertAfter: plan.alertAfter,
      maxReplay: plan.maxReplay,
      heartbeatMs: plan.heartbeatSeconds === null ? null : plan.heartbeatSeconds * 1000,
      suppressed: new Set(plan.suppressAuthors.map(foldedName)),
      delivery: plan.delivery,
      silenced: plan.silenced,
    };
    const watcher = createWatcher({
      persona,
      source,
      sink,
      saver,
      rules,
      state: openWatch(machine.clock.now(), start, saved, tail, rules),
      clock: machine.clock,
      put: report.put,
      settling,
    });
    cleanUp.move();
    return lock === null ? watcher : holding(watcher, lock);
  };
}

/** The lock lives as long as the watch. */
function holding(watcher: Watcher, lock: Lock): Watcher {
  return {
    persona: watcher.persona,
    look: watcher.look,
    beat: watcher.beat,
    tell: watcher.tell,
    get state() {
      return watcher.state;
    },
    get retryAt() {
      return watcher.retryAt;
    },
    get walkAt() {
      return watcher.walkAt;
    },
    get isTelling() {
      return watcher.isTelling;
    },
    async [Symbol.asyncDispose]() {
      await watcher[Symbol.asyncDispose]();
      lock[Symbol.dispose]();
    },
  };
}

/**
 * Faults that are the user's configuration when they come first: 404, and for a `--url` also a redirect or a blocked
 * address, and at least once a token that is refused. Later they are failures like any other (Kijito contract a, b, f).
 */
function fatalAtStart(plan: WatchPlan, watchers: readonly Watcher[]) {
  const unseen = new Set(watchers); // one that is adopted later is no start
  return (watcher: Watcher, outcome: LookOutcome): void => {
    if (!unseen.delete(watcher) || outcome.is !== 'failed') return;
    const { code, message } = outcome.fault;
    const fatal =
      code === 'not-found' ||
      // 403 has the same code, and is a failure: a gate before the hive answers so, too.
      (plan.delivery === 'at-least-once' && code === 'unauthorized' && message.includes('answered 401')) ||
      (plan.targets.is === 'url' && (code === 'redirect' || code === 'bad-url' || code === 'blocked'));
    if (fatal) throw outcome.fault;
  };
}
