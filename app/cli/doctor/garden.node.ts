import { lstatSync } from 'node:fs';
import { Fault } from '../../../core/model/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { gardenSource, listenerAt, realProcesses } from '../../../core/sources/garden/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import { gardenPlaces } from '../../compose/garden-places.node.ts';
import type { GardenSeen } from './garden.ts';
import type { Scene } from './scene.ts';

/** Sees what the watch of the tray process sees, once. @throws Fault `unreadable` when the store can not be read */
export async function gardenSeen({ settings, env, clock }: Scene, signal: AbortSignal): Promise<GardenSeen> {
  const { garden } = settings;
  if (garden.is === 'off') return { is: 'off' };
  const places = gardenPlaces(garden, env);
  if (garden.store === undefined && lstatSync(places.sessions, { throwIfNoEntry: false }) === undefined) {
    return { is: 'none', sessions: places.sessions };
  }
  await using source = gardenSource({
    ...{ places, disk: realDisk(silentLog), clock, log: silentLog, contentChars: null, backfill: false },
    asks: { processes: realProcesses, listenerAt },
  });
  const personas = await source.personas(signal);
  let unread = 0;
  const shut: string[] = [];
  for (const persona of personas) {
    signal.throwIfAborted();
    try {
      const look = await source.look(persona, { is: 'unset' }, signal);
      unread += look.unread.is === 'unknown' ? 0 : look.unread.n;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      shut.push(error.message);
    }
  }
  return { is: 'store', citizens: personas.length, unread, flaws: [...shut, ...source.defects] };
}
