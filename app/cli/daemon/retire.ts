import { join } from 'node:path';
import { type DaemonPlaces, writeDaemonConfig } from '../../../core/link/index.ts';
import { Fault, faultOf } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { printable, printableJson } from '../../printable.ts';
import { type DaemonEnd, endDaemon, holderOf } from '../../service/index.ts';
import type { Io } from '../command.ts';
import { type Chosen, chosenDaemons } from './chosen.ts';
import { type Ground, groundOf } from './ground.ts';
import { removeDaemonFiles } from './remove.node.ts';

/** What is left of a daemon that is ended for a reason. */
export interface Leaves {
  readonly unit: 'paused' | 'removed';
  readonly config: 'kept' | 'removed';
}

interface Retired {
  readonly name: string;
  readonly end: DaemonEnd;
  readonly unit: Leaves['unit'];
  readonly config: Leaves['config'];
}

/**
 * Ends daemons for good: each is asked, after 5 s terminated, after 2 s more killed, all at the same time, and nobody starts it
 * again (persona daemon, contract 5). Others are not touched.
 * @returns 1 when one of them could not be ended or taken away, having said which
 */
export async function retire(verb: string, args: readonly string[], io: Io, leavesOf: (keep: boolean) => Leaves) {
  const ground = groundOf(io);
  const { daemons, json, keep } = chosenDaemons(verb, args, ground);
  const leaves = leavesOf(keep);
  const all = await Promise.all(
    daemons.map(async (daemon): Promise<Retired | { readonly name: string; readonly error: string }> => {
      try {
        return await retired(daemon, reasonOf(verb, leaves), leaves, ground);
      } catch (error) {
        const { name } = daemon;
        return { name, error: faultOf(error, { is: 'machine', key: `daemon:${name}` }).explain() };
      }
    }),
  );
  if (json) io.out(`${printableJson(JSON.stringify(all))}\n`);
  for (const one of all) {
    if ('error' in one) io.err(`hivebar daemon: ${printable(`${one.name}: ${one.error}`)}\n`);
    else if (!json) io.out(`${printable(sentenceOf(one))}\n`);
  }
  return all.some((one) => 'error' in one) ? 1 : 0;
}

/** To an upstream an uninstall is what it comes to. */
function reasonOf(verb: string, { config }: Leaves): string {
  if (verb !== 'uninstall') return verb;
  return config === 'removed' ? 'destroy' : 'archive';
}

async function retired(daemon: Chosen, reason: string, leaves: Leaves, ground: Ground): Promise<Retired> {
  const { disk, random } = ground;
  const { name, config } = daemon;
  const places = ground.places(daemon);
  // First of all: whoever would start it again sees that it is not to.
  if (config !== null) writeDaemonConfig(disk, random, places, { ...config, paused: true });
  const end = await endDaemon(places, reason, holderOf(disk, places), realClock);
  if (end === 'killed') await endShim(places);
  const service = ground.service({ ...daemon, project: config?.project ?? '' });
  if ((await service.look()).is === 'ours') await (leaves.unit === 'removed' ? service.uninstall() : service.pause());
  if (end === 'stayed') {
    const why = `the daemon ${name} was asked, terminated and killed, and is still there`;
    throw new Fault('daemon-refused', why, { is: 'machine', key: `daemon:${name}` });
  }
  if (leaves.config === 'removed') removeDaemonFiles(disk, places);
  return { name, end, ...leaves };
}

/** One that does not end with its stdin would outlive a daemon that could not end it. */
async function endShim({ runtime }: DaemonPlaces): Promise<void> {
  const { endLeftOver } = await import('../../../core/daemon/index.ts');
  endLeftOver(join(runtime, 'shim.pid'));
}

const ENDS: Readonly<Record<DaemonEnd, string>> = {
  'was-gone': 'did not run',
  asked: 'ended',
  terminated: 'did not end when it was asked, and was terminated',
  killed: 'did not end when it was asked and terminated, and was killed',
  stayed: 'is still there',
};

function sentenceOf({ name, end, unit, config }: Retired): string {
  const left =
    config === 'removed'
      ? 'its unit, configuration and tokens are removed'
      : unit === 'removed'
        ? 'its unit is removed, its configuration and tokens are kept'
        : 'it is paused until hivebar daemon install starts it again';
  return `${name}: ${ENDS[end]}; ${left}`;
}
