import { join } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { openDaemonHive } from '../../sources/daemon-hive.ts';
import { resolveDaemonHivePlaces } from '../../sources/daemon-hive-places.node.ts';
import type { PersonaDaemonsProbe } from './daemons.ts';
import type { DoctorContext } from './doctor-context.ts';

/** Reads once what the board shows of the persona daemons. @throws Fault `unreadable` */
export async function probePersonaDaemons(
  { dirs, env, clock }: DoctorContext,
  signal: AbortSignal,
): Promise<PersonaDaemonsProbe> {
  const machine = { disk: createRealDisk(silentLog), clock, log: silentLog };
  const { hive } = openDaemonHive(join(dirs.state, 'daemons'), resolveDaemonHivePlaces(env), machine, () => {});
  await using source = hive.source;
  const personas = await source.personas(signal);
  let running = 0;
  let paused = 0;
  const flaws: string[] = [];
  const polls = personas.map(async (persona) => {
    try {
      const { agentState } = await source.poll(persona, { is: 'unset' }, signal);
      if (agentState.is === 'gone') paused += 1;
      else running += 1;
      if (agentState.is === 'stalled')
        flaws.push(`the daemon ${persona.address} lives, and nothing is fetched: ${agentState.why}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      flaws.push(error.message);
    }
  });
  await Promise.all(polls);
  return { installed: personas.length, running, paused, flaws: flaws.sort() };
}
