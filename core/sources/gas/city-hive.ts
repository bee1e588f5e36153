import { isAbsolute } from 'node:path';
import type { Scope } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import type { SourceEnvironment, SourceHost, WatchedHive } from '../module.ts';
import { type City, type CityFetcher, createCityClient } from './city-client.ts';
import { type CitySource, createCitySource, toCityId } from './city-source.ts';
import { createCityReply } from './reply.ts';
import { GAS } from './settings.ts';

export { listCities } from './city-client.ts';
export { toCityId } from './city-source.ts';

/** The client of a supervisor, which its cities share. */
export function createFetcher(url: string, { version }: Pick<SourceEnvironment, 'version'>): CityFetcher {
  const scope: Scope = { is: 'source', key: GAS };
  return createHttpClient({ url, policy: AS_WRITTEN, scope, userAgent: `hivebar/${version}`, credential: null });
}

/** A city, watched as a hive of its own. */
export function openCityHive(
  { name, path }: City,
  address: string,
  http: CityFetcher,
  isRunning: () => boolean,
  acts: boolean,
  { disk, clock, log, contentChars }: Pick<SourceHost, 'disk' | 'clock' | 'log' | 'contentChars'>,
): { readonly source: CitySource; readonly hive: WatchedHive } {
  const source = createCitySource({
    ...{ name, disk, clock, log, contentChars, isRunning },
    path: isAbsolute(path) ? path : '',
    client: createCityClient(http, address, name, { is: 'source', key: toCityId(name) }),
    reset: () => http.reset(),
    ...(acts ? { createReply: (findSubject) => createCityReply(http, name, findSubject) } : {}),
  });
  return {
    source,
    hive: {
      source,
      address: `${address}/v0/city/${name}`,
      identity: (persona) => [GAS, persona.address, name, path],
      named: source.named,
      holdMs: null,
      kind: 'disk', // polls share one request, however many there are
      deliversBacklog: false,
    },
  };
}
