import { join } from 'node:path';
import type { Io } from '../../../core/command/index.ts';
import { displayJson, displayName } from '../../../core/format/index.ts';
import { type DaemonPlaces, writeDaemonConfig } from '../../../core/link/index.ts';
import { Fault, toFault } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { createDaemonHandle, type DaemonEnd, endDaemon } from '../../service/index.ts';
import { type ChosenDaemon, chooseDaemons, type RetireVerb } from './daemon-choice.ts';
import { createContext, type DaemonContext } from './daemon-context.ts';
import { removeDaemonFiles } from './remove.node.ts';

/** What happens to the parts of a daemon that is ended. */
export interface RetirePlan {
  readonly unit: 'paused' | 'removed';
  readonly config: 'kept' | 'removed';
}

interface RetireResult {
  readonly name: string;
  readonly end: DaemonEnd;
  readonly unit: RetirePlan['unit'];
  readonly config: RetirePlan['config'];
}

/**
 * Ends daemons so that nobody starts them again (persona daemon, contract 5). All are ended at the same time: each is asked,
 * terminated after 5 s, and killed after 2 s more. Other daemons are not touched.
 * @returns 1 when a daemon could not be ended or removed; stderr says which
 */
export async function retire(
  verb: RetireVerb,
  args: readonly string[],
  io: Io,
  toPlan: (leavesFiles: boolean) => RetirePlan,
) {
  const context = createContext(io);
  const { daemons, json, leavesFiles } = chooseDaemons(verb, args, context);
  const plan = toPlan(leavesFiles);
  const results = await Promise.all(
    daemons.map(async (daemon): Promise<RetireResult | { readonly name: string; readonly error: string }> => {
      try {
        return await retireDaemon(daemon, toReason(verb, plan), plan, context);
      } catch (error) {
        const { name } = daemon;
        return { name, error: toFault(error, { is: 'machine', key: `daemon:${name}` }).explain() };
      }
    }),
  );
  if (json) io.out(`${displayJson(JSON.stringify(results))}\n`);
  for (const result of results) {
    if ('error' in result) io.err(`hivebar daemon: ${displayName(`${result.name}: ${result.error}`)}\n`);
    else if (!json) io.out(`${displayName(formatRetired(result))}\n`);
  }
  return results.some((result) => 'error' in result) ? 1 : 0;
}

/** Returns the reason for the upstream. An uninstall is reported as `destroy` or `archive`, depending on the configuration. */
function toReason(verb: string, { config }: RetirePlan): string {
  if (verb !== 'uninstall') return verb;
  return config === 'removed' ? 'destroy' : 'archive';
}

async function retireDaemon(
  daemon: ChosenDaemon,
  reason: string,
  plan: RetirePlan,
  context: DaemonContext,
): Promise<RetireResult> {
  const { disk, random } = context;
  const { name, config } = daemon;
  const places = context.places(daemon);
  // This comes first: every program that could start the daemon again sees that it is paused.
  if (config !== null) writeDaemonConfig(disk, random, places, { ...config, paused: true });
  const end = await endDaemon(places, reason, createDaemonHandle(disk, places), realClock);
  if (end === 'killed') await endShim(places);
  const service = context.service({ ...daemon, project: config?.project ?? '' });
  if ((await service.check()).is === 'ours') await (plan.unit === 'removed' ? service.uninstall() : service.pause());
  if (end === 'stayed') {
    const why = `the daemon ${name} still runs after it was asked to end, terminated and killed`;
    throw new Fault('daemon-refused', why, { is: 'machine', key: `daemon:${name}` });
  }
  if (plan.config === 'removed') removeDaemonFiles(disk, places);
  return { name, end, ...plan };
}

/**
 * Ends the shim of a killed daemon. A shim that does not end with its stdin would survive, because the daemon could not end it.
 */
async function endShim({ runtime }: DaemonPlaces): Promise<void> {
  const { endOrphanedShim: endLeftOver } = await import('../../../core/daemon/index.ts');
  endLeftOver(join(runtime, 'shim.pid'));
}

const ENDS: Readonly<Record<DaemonEnd, string>> = {
  'was-gone': 'did not run',
  asked: 'ended',
  terminated: 'did not end when it was asked, and was terminated',
  killed: 'did not end when it was asked and terminated, and was killed',
  stayed: 'is still there',
};

function formatRetired({ name, end, unit, config }: RetireResult): string {
  const left =
    config === 'removed'
      ? 'its unit, configuration and tokens are removed'
      : unit === 'removed'
        ? 'its unit is removed, its configuration and tokens are kept'
        : 'it is paused until hivebar daemon install starts it again';
  return `${name}: ${ENDS[end]}; ${left}`;
}
