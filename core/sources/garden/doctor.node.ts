import { lstatSync } from 'node:fs';
import { Fault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk, findOwnHome, findWorkFolder } from '../../state/index.ts';
import { type CheckContext, type Finding, ok, skipped, warn } from '../module.ts';
import { computeGardenPlaces, type GardenPlaces, probeListener, readProcesses } from './read/index.ts';
import type { GardenSettings } from './settings.ts';
import { createGardenSource } from './source.ts';

/** Polls the garden once, as the watcher of the tray process does. @throws Fault `unreadable` when the store cannot be read */
export async function checkGarden(
  settings: GardenSettings,
  context: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  return judgeGarden(await probeGarden(settings, context, signal));
}

async function probeGarden(
  { garden }: GardenSettings,
  { env, clock }: CheckContext,
  signal: AbortSignal,
): Promise<GardenProbe> {
  if (garden.is === 'off') return { is: 'off' };
  const places = resolveGardenPlaces(garden.store, env);
  if (garden.store === undefined && lstatSync(places.sessions, { throwIfNoEntry: false }) === undefined) {
    return { is: 'none', sessions: places.sessions };
  }
  await using source = createGardenSource({
    ...{ places, disk: createRealDisk(silentLog), clock, log: silentLog, contentChars: null, backfill: false },
    probes: { readProcesses, probeListener },
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

/** Returns the directories of the named store, else of the store in the environment, else of this user's (garden contract 1). */
export function resolveGardenPlaces(
  store: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): GardenPlaces {
  return computeGardenPlaces({ store, env, home: findOwnHome(), cwd: findWorkFolder() });
}

export type GardenProbe =
  | { readonly is: 'off' }
  | { readonly is: 'none'; readonly sessions: string }
  | {
      readonly is: 'store';
      readonly citizens: number;
      readonly unread: number;
      /** Store defects, one line each. */
      readonly flaws: readonly string[];
    };

export function judgeGarden(result: GardenProbe): Finding {
  if (result.is === 'off') return skipped('switched off in the settings');
  if (result.is === 'none') return skipped(`${result.sessions} does not exist`);
  const { citizens, unread, flaws } = result;
  const summary = `${citizens} citizen${citizens === 1 ? '' : 's'}, ${unread} unread`;
  const [first] = flaws;
  if (first === undefined) return ok(summary);
  const remainder = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(
    `${summary}; ${first}${remainder}`,
    'see all of them: hivebar garden doctor; other citizens are not affected',
  );
}
