import { Fault, type Scope } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { realFiles, silentLog } from '../../ports/index.ts';
import { type CheckContext, type Finding, fail, ok, skipped, warn } from '../module.ts';
import { runProgram } from '../run-program.node.ts';
import { createCityClient, listCities } from './city-client.ts';
import { findBd, knock, resolveGasPlaces } from './places.node.ts';
import { GAS, type GasSettings } from './settings.ts';
import { createTownSource } from './town-source.ts';

const SCOPE: Scope = { is: 'source', key: GAS };
/** Shorter than the limit of a check, so that the finding can say what did not end. */
const DEADLINE_MS = 2000;

/** Asks the supervisor and the town once, as the watchers of the tray process do. */
export async function checkGas(settings: GasSettings, context: CheckContext, signal: AbortSignal): Promise<Finding> {
  if (settings.gas.is === 'off') return skipped('it is switched off in the settings');
  const places = resolveGasPlaces(settings.gas);
  const isCity = places.isCityNamed || (await knock(places.city, signal));
  const isTown = realFiles.lstat(places.town)?.kind === 'directory';
  if (!isCity && !isTown) return skipped(`neither Gas City at ${places.city} nor Gas Town in ${places.town}`);
  const seen: string[] = [];
  const flaws: string[] = [];
  try {
    if (isCity) await probeCities(places.city, context, signal, seen, flaws);
    if (isTown) {
      const bd = findBd(context.env);
      if (bd === null)
        return warn(`there is a Gas Town in ${places.town}, and bd is not on PATH`, 'install beads, or put bd on PATH');
      seen.push(await probeTown(bd, places.town, context, signal));
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return fail(error.message, error.explain().slice(error.message.length + 2));
  }
  if (flaws.length > 0) return warn(flaws.join('; '), 'run gc doctor in that city; Hivebar shows what the list says');
  return ok(seen.join('; '));
}

async function probeCities(
  address: string,
  { version }: CheckContext,
  signal: AbortSignal,
  seen: string[],
  flaws: string[],
): Promise<void> {
  const userAgent = `hivebar/${version}`;
  await using http = createHttpClient({
    ...{ url: address, policy: AS_WRITTEN, scope: SCOPE, userAgent, credential: null, deadlineMs: DEADLINE_MS },
  });
  for (const { name, isRunning } of await listCities(http, address, SCOPE, signal)) {
    if (!isRunning) {
      seen.push(`the city ${name} is stopped`);
      continue;
    }
    const client = createCityClient(http, address, name, SCOPE);
    const [{ messages }, counted] = await Promise.all([
      client.list('unread', null, signal),
      client.countUnread(signal),
    ]);
    seen.push(`the city ${name}: ${messages.length} unread`);
    if (counted !== messages.length)
      flaws.push(`the city ${name} disagrees: it counts ${counted} unread and lists ${messages.length}`);
  }
}

async function probeTown(bd: string, town: string, { clock, env }: CheckContext, signal: AbortSignal): Promise<string> {
  await using source = createTownSource({
    ...{ town, clock, log: silentLog, contentChars: null },
    runBd: (args, stop) => runProgram({ file: bd, args, cwd: town, env, timeoutMs: DEADLINE_MS }, stop),
  });
  const personas = await source.personas(signal);
  return `the town in ${town}: ${personas.length} ${personas.length === 1 ? 'member' : 'members'}`;
}
