import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { FAULTS, Fault, type FaultCode, type Scope, toFault } from '../../model/index.ts';
import {
  AS_WRITTEN,
  classifyAddress,
  createHttpClient,
  formatUrl,
  type HttpClient,
  parseTarget,
  readCredential,
} from '../../net/index.ts';
import { silentLog } from '../../ports/index.ts';
import { type CheckContext, type Finding, fail, ok, warn } from '../module.ts';
import type { HiveClient } from './client.ts';
import { createHttpHive, parseHiveUrl } from './http-hive.ts';
import { type ConfiguredHive, TOKEN_VARIABLE } from './settings.ts';

/** Asks a hive as a watcher does, and tries each of its addresses. */
export async function checkHiveAnswers(
  hive: ConfiguredHive,
  context: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  return judgeHive(await probeHive(hive, context, signal));
}

/** Shorter than the limit of a check, so that the finding can say what hung. */
const DEADLINE_MS = 2000;
const DIAL_MS = 1500;
const LOCAL: readonly string[] = ['127.0.0.1', '::1'];

async function probeHive(configured: ConfiguredHive, context: CheckContext, signal: AbortSignal): Promise<HiveProbe> {
  const scope: Scope = { is: 'source', key: configured.name };
  const start = context.clock.monotonic();
  const flaws: string[] = [];
  const defects: string[] = [];
  let skewMs: number | null = null;
  const initial: HiveProbe = {
    address: configured.base,
    lies: 'unknown',
    isLocalhost: false,
    dialed: [],
    asked: { is: 'fault', code: 'internal', message: 'not asked' },
    skewMs: null,
    token: { is: 'none' },
  };
  let known = initial;
  try {
    const { url, host } = parseTarget(configured.base, AS_WRITTEN, scope);
    known = { ...known, address: formatUrl(url), isLocalhost: host.is === 'local' };
    const log = { ...silentLog, warn: (line: string) => void flaws.push(line) };
    const tokenVariable = configured.isPrimary ? context.env[TOKEN_VARIABLE] : undefined;
    const credential = readCredential(
      { tokenFile: configured.tokenFile ?? null, tokenVariable, authHeader: null },
      log,
    );
    if (credential !== null) known = { ...known, token: { is: 'given', flaws } };
    // Behind a proxy the proxy resolves the name, and a direct connection would prove nothing.
    const addresses =
      configured.proxy !== undefined
        ? []
        : host.is === 'literal'
          ? [host.address]
          : host.is === 'local'
            ? LOCAL
            : await resolveAddresses(host.name);
    const lies =
      configured.proxy !== undefined
        ? `through the proxy ${configured.proxy}`
        : [...new Set(addresses.map(classifyAddress))].join(', ');
    known = { ...known, lies: lies || 'unknown' };
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const dialing = Promise.all(addresses.map((address) => dial(address, port, signal)));
    const client = createHttpClient({
      url: configured.base,
      policy: AS_WRITTEN,
      scope,
      userAgent: `hivebar/${context.version}`,
      credential,
      ...(configured.proxy === undefined ? {} : { proxy: configured.proxy }),
      deadlineMs: DEADLINE_MS,
    });
    const dated = observeDate(client, (at) => {
      skewMs = at - context.clock.now();
    });
    const { clock } = context;
    await using hive = createHttpHive({
      hive: parseHiveUrl(configured.base, scope),
      fetcher: dated,
      clock,
      contentChars: 0,
      longPoll: false,
      scope,
      log: { ...silentLog, warn: (line) => void defects.push(line) },
    });
    try {
      const [personas, unread] = await Promise.all([hive.personas?.(signal), countUnread(hive, signal)]);
      const ms = Math.round(context.clock.monotonic() - start);
      known = { ...known, asked: { is: 'hive', personas: personas?.length ?? 0, unread, ms, defects } };
    } finally {
      known = { ...known, dialed: await dialing, skewMs };
    }
  } catch (error) {
    const { code, message } = toFault(error, scope);
    return { ...known, skewMs, asked: { is: 'fault', code, message } };
  }
  return known;
}

/** Null: the hive has no pending list, which is optional. */
async function countUnread(hive: HiveClient, signal: AbortSignal): Promise<number | null> {
  try {
    const levels = await hive.pending?.(null, signal);
    if (levels === undefined) return null;
    return [...levels.byAddress.values()].reduce(
      (sum, { unread }) => sum + (unread.is === 'unknown' ? 0 : unread.n),
      0,
    );
  } catch (error) {
    if (error instanceof Fault && error.code === 'not-found') return null;
    throw error;
  }
}

/** Reports the `Date` header of each response. HTTP gives it in whole seconds. */
function observeDate(client: HttpClient, tell: (at: number) => void): Pick<HttpClient, 'get'> & AsyncDisposable {
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

async function resolveAddresses(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch {
    return []; // the request itself fails for the same reason, and reports it
  }
}

function dial(host: string, port: number, signal: AbortSignal): Promise<DialResult> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, family: isIP(host) });
    const done = (is: DialResult['is']): void => {
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

/** One address of a hive's host, and whether a connection succeeds. */
export interface DialResult {
  readonly address: string;
  readonly is: 'connects' | 'refuses' | 'silent' | 'failed';
}

export interface HiveProbe {
  /** The address as a person may see it. */
  readonly address: string;
  /** Where the address is: loopback, private, public ... */
  readonly lies: string;
  readonly isLocalhost: boolean;
  readonly dialed: readonly DialResult[];
  readonly asked:
    | {
        readonly is: 'hive';
        readonly personas: number;
        readonly unread: number | null;
        readonly ms: number;
        /** Entries of its lists that cannot be read, one line per list. */
        readonly defects: readonly string[];
      }
    | { readonly is: 'fault'; readonly code: FaultCode; readonly message: string };
  /** The hive's clock minus ours, in milliseconds; null when the hive does not send a date. */
  readonly skewMs: number | null;
  readonly token: { readonly is: 'none' } | { readonly is: 'given'; readonly flaws: readonly string[] };
}

/** Beyond this difference "new since" and "old" mislead people. */
const MOST_SKEW_MS = 60_000;
const REACHING: readonly FaultCode[] = ['refused', 'timeout', 'broken'];

export function judgeHive(result: HiveProbe): Finding {
  const { address, lies, dialed, asked: response, skewMs, token } = result;
  const families = dialed.map((entry) => `${entry.address} ${entry.is}`).join(', ');
  if (response.is === 'fault') {
    const { code, message } = response;
    const where = REACHING.includes(code) && families !== '' ? ` (${families})` : '';
    return fail(`${address}: ${message}${where}`, chooseNextStep(result, code));
  }
  if (token.is === 'given' && token.flaws.length > 0)
    return warn(`${address} answers; ${token.flaws[0]}`, 'run: chmod 600 FILE, as its owner');
  if (skewMs !== null && Math.abs(skewMs) > MOST_SKEW_MS) {
    const seconds = Math.round(Math.abs(skewMs) / 1000);
    return warn(
      `${address} answers; its clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} ours`,
      'set the clock that is wrong: timedatectl set-ntp true',
    );
  }
  if (response.defects.length > 0)
    return warn(
      `${address} answers; ${response.defects.join('; ')}`,
      'correct that entry at the hive; all other entries are watched',
    );
  // A hive that listens in one address family is still reached. The finding says it, because other programs may not try both.
  const note = dialed.some(({ is }) => is !== 'connects') && dialed.length > 1 ? `, ${families}` : '';
  const { personas, unread, ms } = response;
  return ok(`${address} (${lies}${note}): ${personas} personas, ${unread ?? 'unknown'} unread, answered in ${ms} ms`);
}

function chooseNextStep({ isLocalhost, dialed, token }: HiveProbe, code: FaultCode): string {
  if (code === 'refused' && isLocalhost && dialed.every(({ is }) => is === 'refuses'))
    return 'start the hive: nothing listens there, neither at 127.0.0.1 nor at ::1';
  if (code === 'unauthorized')
    return token.is === 'none'
      ? 'set its token: hivebar config set tokenFile FILE'
      : 'the hive does not accept the token: get a valid one from the hive';
  return FAULTS[code].next;
}
