import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { Fault, faultOf, type Scope } from '../../../core/model/index.ts';
import {
  AS_WRITTEN,
  classOf,
  type HttpClient,
  httpClient,
  readCredential,
  shownUrl,
  targetOf,
} from '../../../core/net/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { type HiveClient, hiveAt, httpHive } from '../../../core/sources/index.ts';
import type { Dialed, HiveSeen } from './hive.ts';
import type { Scene } from './scene.ts';

/** A hive of the settings. */
export interface ConfiguredHive {
  readonly name: string;
  readonly base: string;
  readonly tokenFile: string | null;
  readonly proxy: string | null;
  /** Only the primary hive's token may come from the variable. */
  readonly isPrimary: boolean;
}

export function hivesIn({ settings }: Scene): readonly ConfiguredHive[] {
  const { primary, hives, tokenFile } = settings;
  const first =
    primary?.is === 'kijito'
      ? [
          {
            name: 'kijito',
            base: primary.base,
            tokenFile: tokenFile ?? null,
            proxy: primary.proxy ?? null,
            isPrimary: true,
          },
        ]
      : [];
  return [
    ...first,
    ...hives.map(({ name, base, tokenFile: file, proxy }) => ({
      name,
      base,
      tokenFile: file ?? null,
      proxy: proxy ?? null,
      isPrimary: false,
    })),
  ];
}

/** Below the limit of a check, so that its finding says what hung. */
const DEADLINE_MS = 2000;
const DIAL_MS = 1500;
const LOCAL: readonly string[] = ['127.0.0.1', '::1'];

export async function hiveSeen(of: ConfiguredHive, scene: Scene, signal: AbortSignal): Promise<HiveSeen> {
  const scope: Scope = { is: 'source', key: of.name };
  const start = scene.clock.monotonic();
  const flaws: string[] = [];
  const defects: string[] = [];
  let skewMs: number | null = null;
  const none: HiveSeen = {
    address: of.base,
    lies: 'unknown',
    isLocalhost: false,
    dialed: [],
    asked: { is: 'fault', code: 'internal', message: 'not asked' },
    skewMs: null,
    token: { is: 'none' },
  };
  let known = none;
  try {
    const { url, host } = targetOf(of.base, AS_WRITTEN, scope);
    known = { ...known, address: shownUrl(url), isLocalhost: host.is === 'local' };
    const log = { ...silentLog, warn: (line: string) => void flaws.push(line) };
    const tokenVariable = of.isPrimary ? scene.env.KIJITOMON_TOKEN : undefined;
    const credential = readCredential({ tokenFile: of.tokenFile, tokenVariable, authHeader: null }, log);
    if (credential !== null) known = { ...known, token: { is: 'given', flaws } };
    // Behind a proxy the name is the proxy's to resolve, and a connection past it proves nothing.
    const addresses =
      of.proxy !== null
        ? []
        : host.is === 'literal'
          ? [host.address]
          : host.is === 'local'
            ? LOCAL
            : await resolved(host.name);
    const lies = of.proxy !== null ? `through the proxy ${of.proxy}` : [...new Set(addresses.map(classOf))].join(', ');
    known = { ...known, lies: lies || 'unknown' };
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const dialing = Promise.all(addresses.map((address) => dial(address, port, signal)));
    const client = httpClient({
      url: of.base,
      policy: AS_WRITTEN,
      scope,
      userAgent: `hivebar/${scene.version}`,
      credential,
      ...(of.proxy === null ? {} : { proxy: of.proxy }),
      deadlineMs: DEADLINE_MS,
    });
    const dated = withDate(client, (at) => {
      skewMs = at - scene.clock.now();
    });
    const { clock } = scene;
    await using hive = httpHive({
      hive: hiveAt(of.base, scope),
      fetcher: dated,
      clock,
      contentChars: 0,
      longPoll: false,
      scope,
      log: { ...silentLog, warn: (line) => void defects.push(line) },
    });
    try {
      const [personas, unread] = await Promise.all([hive.personas?.(signal), unreadIn(hive, signal)]);
      const ms = Math.round(scene.clock.monotonic() - start);
      known = { ...known, asked: { is: 'hive', personas: personas?.length ?? 0, unread, ms, defects } };
    } finally {
      known = { ...known, dialed: await dialing, skewMs };
    }
  } catch (error) {
    const { code, message } = faultOf(error, scope);
    return { ...known, skewMs, asked: { is: 'fault', code, message } };
  }
  return known;
}

/** Null: the hive has no list of what is pending, which it need not have. */
async function unreadIn(hive: HiveClient, signal: AbortSignal): Promise<number | null> {
  try {
    const levels = await hive.pending?.(null, signal);
    if (levels === undefined) return null;
    return [...levels.of.values()].reduce((sum, { unread }) => sum + (unread.is === 'unknown' ? 0 : unread.n), 0);
  } catch (error) {
    if (error instanceof Fault && error.code === 'not-found') return null;
    throw error;
  }
}

/** Tells what each answer's `Date` says; HTTP knows it to the second. */
function withDate(client: HttpClient, tell: (at: number) => void): Pick<HttpClient, 'get'> & AsyncDisposable {
  return {
    async get(path, signal, options) {
      const answer = await client.get(path, signal, options);
      const at = Date.parse(String(answer.headers.date));
      if (Number.isFinite(at)) tell(at);
      return answer;
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

async function resolved(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch {
    return []; // the request itself fails for the same reason, and says which
  }
}

function dial(host: string, port: number, signal: AbortSignal): Promise<Dialed> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, family: isIP(host) });
    const done = (is: Dialed['is']): void => {
      signal.removeEventListener('abort', aborted);
      socket.destroy();
      resolve({ address: host, is });
    };
    const aborted = (): void => done('silent');
    signal.addEventListener('abort', aborted, { once: true });
    socket.setTimeout(DIAL_MS, () => done('silent'));
    socket.on('connect', () => done('connects'));
    socket.on('error', (error: NodeJS.ErrnoException) => done(error.code === 'ECONNREFUSED' ? 'refuses' : 'failed'));
  });
}
