import { Fault, type Scope } from '../../model/index.ts';
import { createTroubleLog, every } from '../../services/index.ts';
import type {
  HiveHandle,
  NativeSession,
  SourceEnvironment,
  SourceHost,
  SourcePlace,
  WatchedSource,
} from '../module.ts';
import type { City, CityFetcher } from './city-client.ts';
import type { CitySource } from './city-source.ts';
import { findBd, type GasPlaces, knock, resolveGasPlaces } from './places.node.ts';
import { GAS, GAS_PREFIX, type GasSettings } from './settings.ts';
import type { TownSource } from './town-source.ts';

/** How often it looks for a supervisor, for its cities and for a town. */
const SEARCH_MS = 60_000;
/** The same while a supervisor that the settings name, or one that was there, does not answer. */
const MISSED_MS = 10_000;
/** Under this id the board has a supervisor that is missed. */
const SUPERVISOR = `${GAS}:supervisor`;
const SCOPE: Scope = { is: 'source', key: GAS };

interface OpenCity {
  readonly city: City;
  readonly source: CitySource;
  readonly handle: HiveHandle;
  isRunning: boolean;
}

interface OpenTown {
  readonly source: TownSource;
  readonly handle: HiveHandle;
}

/** Looks for Gas City and Gas Town, and watches each city and the town as a hive of its own. Null when it is switched off. */
export function openGas({ gas }: GasSettings, host: SourceHost): WatchedSource | null {
  if (gas.is === 'off') return null;
  const places = resolveGasPlaces(gas);
  const cities = new Map<string, OpenCity>();
  let fetcher: CityFetcher | null = null;
  let town: OpenTown | null = null;
  let isMissed = false;
  const townTrouble = createTroubleLog(host.log);
  const service = every({
    name: 'search for Gas City and Gas Town',
    ms: () => (isMissed ? MISSED_MS : SEARCH_MS),
    round,
    clock: host.clock,
  });

  async function round(signal: AbortSignal): Promise<void> {
    await findCities(signal);
    if (!signal.aborted) await findTown();
  }

  async function findCities(signal: AbortSignal): Promise<void> {
    if (fetcher === null && !(await knock(places.city, signal))) return reportSupervisor(null, signal);
    const { createFetcher, listCities, openCityHive, toCityId } = await import('./city-hive.ts');
    fetcher ??= createFetcher(places.city, host);
    let found: readonly City[];
    try {
      found = await listCities(fetcher, places.city, SCOPE, signal);
    } catch (error) {
      if (!(error instanceof Fault) || signal.aborted) return;
      reportSupervisor(error, signal);
      if (cities.size === 0) await closeFetcher(); // another program listens there, or none any more
      return;
    }
    reportSupervisor(null, signal, true);
    if (signal.aborted) return;
    const byName = new Map(found.map((city) => [city.name, city]));
    for (const [name, known] of cities) {
      const city = byName.get(name);
      if (city === undefined || city.path !== known.city.path) await withdraw(name, known);
      else if (known.isRunning !== city.isRunning) {
        known.isRunning = city.isRunning;
        host.log.info(`${toCityId(name)}: the city ${city.isRunning ? 'runs' : 'was stopped'}`);
      }
    }
    for (const city of found) {
      if (!city.isRunning || cities.has(city.name)) continue;
      const isRunning = (): boolean => cities.get(city.name)?.isRunning !== false;
      const { source, hive } = openCityHive(city, places.city, fetcher, isRunning, gas.actions === true, host);
      cities.set(city.name, { city, source, handle: host.watch(hive), isRunning: true });
      host.log.info(`${source.id}: watching the city in ${city.path}`);
    }
  }

  /** Only a supervisor that the settings name is missed when it is not there; a city that was watched says so by itself. */
  function reportSupervisor(fault: Fault | null, signal: AbortSignal, isThere = false): void {
    if (signal.aborted) return;
    isMissed = !isThere && (places.isCityNamed || cities.size > 0);
    if (!places.isCityNamed) return;
    const missing = isThere ? null : (fault ?? new Fault('refused', `${places.city}: nobody listens there`, SCOPE));
    host.put({ is: 'source', at: host.clock.now(), source: SUPERVISOR, address: places.city, fault: missing });
  }

  async function withdraw(name: string, { source, handle, city }: OpenCity): Promise<void> {
    cities.delete(name);
    await handle.release();
    await source[Symbol.asyncDispose]();
    handle.leave();
    host.put({ is: 'source', at: host.clock.now(), source: source.id, address: city.path, fault: null });
    host.put({ is: 'withdrawn', at: host.clock.now(), source: source.id });
    host.log.info(`${source.id}: the supervisor has no such city any more`);
  }

  async function findTown(): Promise<void> {
    const isThere = isFolder(places.town, host);
    if (town !== null && !isThere) await withdrawTown(town);
    if (town !== null || !isThere) return;
    const bd = findBd(host.env);
    if (bd === null)
      return townTrouble.raise(
        `there is a Gas Town in ${places.town}, and bd is not on PATH, so its mail is not watched`,
      );
    townTrouble.clear(`the Gas Town in ${places.town} is watched now`);
    const { openTownHive } = await import('./town-hive.ts');
    const runGt = gas.actions === true ? (await import('./run-gt.node.ts')).createGtRunner(places.town, host) : null;
    const { source, hive } = openTownHive(places.town, bd, runGt, host);
    const handle = host.watch(hive);
    town = { source, handle };
  }

  async function withdrawTown({ source, handle }: OpenTown): Promise<void> {
    town = null;
    await handle.release();
    await source[Symbol.asyncDispose]();
    handle.leave();
    host.put({ is: 'source', at: host.clock.now(), source: source.id, address: places.town, fault: null });
    host.log.info(`${places.town} is gone, so the town is not watched any more`);
  }

  async function closeFetcher(): Promise<void> {
    await fetcher?.[Symbol.asyncDispose]();
    fetcher = null;
  }

  return {
    hives: [],
    services: [
      {
        name: service.name,
        async run(signal) {
          try {
            await service.run(signal);
          } finally {
            for (const { source, handle } of [...cities.values(), ...(town === null ? [] : [town])]) {
              await handle.release();
              await source[Symbol.asyncDispose]();
            }
            cities.clear();
            town = null;
            await closeFetcher();
          }
        },
      },
    ],
    poll: () => service.wake(),
    findSessions: ({ id, source }) => findSessions(id, source),
    [Symbol.asyncDispose]: async () => {},
  };

  /** Sessions that the programs of both systems bring to the front by name. */
  function findSessions(persona: string, hive: string): readonly NativeSession[] {
    for (const { city, source } of cities.values()) {
      if (source.id !== hive) continue;
      const address = persona.slice(source.named('').id.length);
      if (!source.hasSession(address) || address.startsWith('-') || city.path === '') return [];
      return [{ persona, id: address, cwd: city.path, resume: ['gc', 'session', 'attach', address] }];
    }
    if (hive !== GAS || town === null) return [];
    const [rig, kind, name] = persona.slice(GAS_PREFIX.length).split('.');
    if (rig === undefined || kind !== 'crew' || name === undefined || name.startsWith('-')) return [];
    return [{ persona, id: name, cwd: places.town, resume: ['gt', 'crew', 'at', name, '--rig', rig] }];
  }
}

function isFolder(path: string, { disk }: Pick<SourceEnvironment, 'disk'>): boolean {
  try {
    return disk.files.lstat(path)?.kind === 'directory';
  } catch {
    return false; // what this user cannot reach is nothing to watch
  }
}

/** Where it looks: an address of this machine, and a folder. */
export async function findGasPlaces({ gas }: GasSettings, host: SourceEnvironment): Promise<readonly SourcePlace[]> {
  if (gas.is === 'off') return [];
  const places: GasPlaces = resolveGasPlaces(gas);
  const isThere = await knock(places.city, host.stop);
  const isTown = isFolder(places.town, host);
  const hasBd = isTown && findBd(host.env) !== null;
  return [
    { what: 'Gas City', where: places.city, found: isThere ? 'a server' : null },
    { what: 'Gas Town', where: places.town, found: isTown ? (hasBd ? 'a town' : 'a town, but no program bd') : null },
  ];
}
