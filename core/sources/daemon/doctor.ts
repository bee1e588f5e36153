import { Fault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type CheckContext, type Finding, ok, skipped, warn } from '../module.ts';
import { openDaemonHive, toDaemonsFolder } from './open.ts';
import { resolveDaemonHivePlaces } from './own-places.node.ts';

export interface PersonaDaemonsProbe {
  readonly installed: number;
  /** Daemons that answer on their control socket. */
  readonly running: number;
  /** Daemons that nobody is to start. */
  readonly paused: number;
  /** Daemons that should run and do not, or are stalled, one line each. */
  readonly flaws: readonly string[];
}

export function judgePersonaDaemons({ installed, running, paused, flaws }: PersonaDaemonsProbe): Finding {
  if (installed === 0) return skipped('no daemon is installed');
  const summary = `${installed} installed, ${running} ${running === 1 ? 'runs' : 'run'}`;
  const fullSummary = paused === 0 ? summary : `${summary}, ${paused} paused`;
  const [first] = flaws;
  if (first === undefined) return ok(fullSummary);
  const remainder = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(
    `${fullSummary}; ${first}${remainder}`,
    'see all of them: hivebar daemon list; see one: hivebar daemon status',
  );
}

/** Reads once what the board shows of the persona daemons. @throws Fault `unreadable` */
export async function checkPersonaDaemons(context: CheckContext, signal: AbortSignal): Promise<Finding> {
  return judgePersonaDaemons(await probePersonaDaemons(context, signal));
}

async function probePersonaDaemons(
  { state, env, clock }: CheckContext,
  signal: AbortSignal,
): Promise<PersonaDaemonsProbe> {
  const machine = { disk: createRealDisk(silentLog), clock, log: silentLog };
  const { hive } = openDaemonHive(toDaemonsFolder(state), resolveDaemonHivePlaces(env), machine);
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
        flaws.push(`the daemon ${persona.address} runs, but nothing is fetched: ${agentState.why}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      flaws.push(error.message);
    }
  });
  await Promise.all(polls);
  return { installed: personas.length, running, paused, flaws: flaws.sort() };
}
