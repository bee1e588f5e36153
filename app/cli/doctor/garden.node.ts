import { lstatSync } from 'node:fs';
import { Fault } from '../../../core/model/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { createGardenSource, probeListener, readProcesses } from '../../../core/sources/garden/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { resolveGardenPlaces } from '../../sources/garden-places.node.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { GardenProbe } from './garden.ts';

/** Polls the garden once, as the watcher of the tray process does. @throws Fault `unreadable` when the store cannot be read */
export async function probeGarden({ settings, env, clock }: DoctorContext, signal: AbortSignal): Promise<GardenProbe> {
  const { garden } = settings;
  if (garden.is === 'off') return { is: 'off' };
  const places = resolveGardenPlaces(garden, env);
  if (garden.store === undefined && lstatSync(places.sessions, { throwIfNoEntry: false }) === undefined) {
    return { is: 'none', sessions: places.sessions };
  }
  await using source = createGardenSource({
    ...{ places, disk: createRealDisk(silentLog), clock, log: silentLog, contentChars: null, backfill: false },
    probes: { readProcesses: readProcesses, probeListener },
  });
  const personas = await source.personas(signal);
  let unread = 0;
  const shut: string[] = [];
  for (const persona of personas) {
    signal.throwIfAborted();
    try {
      const pollResult = await source.poll(persona, { is: 'unset' }, signal);
      unread += pollResult.unread.is === 'unknown' ? 0 : pollResult.unread.n;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      shut.push(error.message);
    }
  }
  return { is: 'store', citizens: personas.length, unread, flaws: [...shut, ...source.defects] };
}
