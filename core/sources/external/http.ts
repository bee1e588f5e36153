import { Fault } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient, type HttpClient } from '../../net/index.ts';
import { createHttpHive, createKijitoSource, parseHiveUrl, toInboxIdentity, toKijitoPersona } from '../kijito/index.ts';
import type { SourceHost, WatchedHive } from '../module.ts';
import { SourceFault } from './faults.ts';
import { LINE_LIMITS } from './lines.ts';
import { createResult } from './one-shot.ts';
import type { Transport, TransportListener } from './transport.ts';

interface HttpTransportOptions {
  readonly name: string;
  readonly url: string;
  readonly version: string;
  readonly contentChars: number;
  readonly listener: TransportListener;
  /** Called when nothing at the address speaks in lines. */
  readonly onNoLines: () => void;
}

type HttpHost = Pick<SourceHost, 'clock' | 'log' | 'version' | 'contentChars' | 'holdSeconds' | 'reservedIds'>;

/** A server that answers `GET URL/hivebar` with lines. */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { name, url, contentChars, listener } = options;
  const base = new URL(url);
  const path = `${base.pathname.replace(/\/$/, '')}/hivebar`;
  const client = createClient(name, url, options.version);
  let hasAnswered = false;
  return {
    ...{ pid: null, isCheap: false },
    start: async () => null,
    async poll(cursor, withinMs, signal) {
      const query = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
      const result = createResult(name, contentChars, listener.diagnose);
      try {
        const { body } = await client.get(`${path}${query}`, signal, { deadlineMs: withinMs });
        result.push(body);
      } catch (error) {
        if (error instanceof Fault && error.code === 'not-found' && !hasAnswered) options.onNoLines();
        throw error instanceof Fault ? new SourceFault(error.code, name, error.message, { cause: error }) : error;
      }
      const answer = result.end();
      hasAnswered = true;
      return answer;
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function createClient(name: string, url: string, version: string): HttpClient {
  return createHttpClient({
    ...{ url, policy: AS_WRITTEN, scope: { is: 'source', key: name }, userAgent: `hivebar/${version}` },
    ...{ credential: null, maxBytes: LINE_LIMITS.resultBytes },
  });
}

/** A server that speaks the Kijito inbox contract, under the name of this source. */
export function createNamedHive(name: string, url: string, host: HttpHost): WatchedHive {
  const { clock, log, version, contentChars, holdSeconds, reservedIds } = host;
  const scope = { is: 'source', key: name } as const;
  const hive = parseHiveUrl(url, scope);
  const holdMs = holdSeconds === 0 ? null : holdSeconds * 1000;
  const members = {
    ...({ is: 'directory', prefix: `${name}-` } as const),
    reserved: reservedIds.filter((ids) => ids !== `${name}-`),
  };
  const fetcher = createHttpClient({
    ...{ url, policy: AS_WRITTEN, scope, userAgent: `hivebar/${version}`, credential: null },
  });
  return {
    source: createKijitoSource({
      ...{ id: name, clock, members },
      client: createHttpHive({ hive, fetcher, clock, contentChars, longPoll: holdMs !== null, scope, log }),
    }),
    address: url,
    identity: (persona) => toInboxIdentity(hive.inbox(persona.address)),
    named: (address) => toKijitoPersona(address, members),
    ...{ holdMs, kind: 'remote', deliversBacklog: false },
  };
}
