import { join } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import { prismOf } from '../../compose/prism.ts';
import { prismPlaces } from '../../compose/prism-places.node.ts';
import type { DaemonsSeen } from './daemons.ts';
import type { Scene } from './scene.ts';

/** Sees what the board shows of the persona daemons, once. @throws Fault `unreadable` */
export async function daemonsSeen({ dirs, env, clock }: Scene, signal: AbortSignal): Promise<DaemonsSeen> {
  const machine = { disk: realDisk(silentLog), clock, log: silentLog };
  const { hive } = prismOf(join(dirs.state, 'daemons'), prismPlaces(env), machine, () => {});
  await using source = hive.source;
  const personas = await source.personas(signal);
  let running = 0;
  let paused = 0;
  const flaws: string[] = [];
  const looks = personas.map(async (persona) => {
    try {
      const { vital } = await source.look(persona, { is: 'unset' }, signal);
      if (vital.is === 'gone') paused += 1;
      else running += 1;
      if (vital.is === 'stalled')
        flaws.push(`the daemon ${persona.address} lives, and nothing is fetched: ${vital.why}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      flaws.push(error.message);
    }
  });
  await Promise.all(looks);
  return { installed: personas.length, running, paused, flaws: flaws.sort() };
}
