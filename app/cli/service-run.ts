import { type Io, toUsageFault } from '../../core/command/index.ts';
import { type FaultCode, toFault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { parseWatch, type WatchPlan } from '../config/watch/index.ts';
import { openWatchSource } from '../headless/watch-alarms.ts';
import { createRealMachine, type Machine } from '../host/machine.node.ts';
import { closeUninvitedInspector } from '../host/poke-signal.node.ts';
import { EXIT, runWatch } from '../program/watch.ts';
import { createStderrLog } from './process.node.ts';

/** Faults that pass on their own: the server or the network is not available yet. */
const PASSING: ReadonlySet<FaultCode> = new Set(['refused', 'dns', 'timeout', 'broken', 'status']);
const AGAIN_MS = 5000;

/**
 * Runs what the headless unit starts: `hivebar watch` with these flags, once the hive answers. At login the hive may start
 * later than we do. Exit code 2 would then end the service, because a unit does not restart for it.
 *
 * @param staysDown exit with 0 instead of 2 and 4, for a supervisor that knows only success and failure
 * @returns the exit code of `hivebar watch`
 */
export async function runService(flags: readonly string[], staysDown: boolean, io: Io): Promise<number> {
  const parsed = parseWatch(flags);
  if (parsed.is === 'usage') {
    if (!staysDown) throw toUsageFault(new Error(parsed.message));
    io.err(`hivebar service: ${parsed.message}\n`);
    return EXIT.clean;
  }
  const log = createStderrLog(io, 'hivebar watch');
  for (const warning of parsed.warnings) log.warn(warning);
  const machine = createRealMachine(log);
  if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
  await waitForHive(parsed.plan, machine);
  if (machine.stop.aborted) return EXIT.clean;
  const code = await runWatch(parsed.plan, machine);
  return staysDown && (code === EXIT.fatal || code === EXIT.readerGone) ? EXIT.clean : code;
}

/** Waits until the hive lists its personas, or fails in a way that waiting does not fix; then the watch reports it. */
async function waitForHive(plan: WatchPlan, machine: Machine): Promise<void> {
  if (plan.targets.is !== 'all') return; // nothing is requested before the first poll
  let reported = '';
  while (!machine.stop.aborted) {
    const why = await findTrouble(plan, machine);
    if (why === null) return;
    if (why !== reported)
      machine.log.info(`the hive is asked again every ${AGAIN_MS / 1000} s until it answers: ${why}`);
    reported = why;
    await machine.clock.sleep(AGAIN_MS, machine.stop);
  }
}

async function findTrouble(plan: WatchPlan, machine: Machine): Promise<string | null> {
  try {
    await using hive = openWatchSource(plan, { ...machine, log: silentLog });
    await hive.source.personas(machine.stop);
    return null;
  } catch (error) {
    const fault = toFault(error, { is: 'source', key: 'kijito' });
    return PASSING.has(fault.code) ? fault.message : null;
  }
}
