import {
  AS_WRITTEN,
  type Credentials,
  createHttpClient,
  createTokenFileCredentials,
  type Header,
  readCredential,
} from '../../net/index.ts';
import { every, type PeriodicService, untilAborted } from '../../services/index.ts';
import { findOwnHome } from '../../state/index.ts';
import type { SourceEnvironment, SourceHost, SourcePlace, WatchedHive, WatchedSource } from '../module.ts';
import { toReadOnlyFiles } from '../source-tools.ts';
import { createInboxEventsRunner } from './inbox-events.node.ts';
import { isListening } from './listening.node.ts';
import { openAmailMemory } from './memory.ts';
import { type AmailPlaces, isThere, listEnvFiles, resolveAmailPlaces } from './places.ts';
import type { ReplyToMailAgent } from './reply.node.ts';
import { createMailServer, type MailServer, UNAVAILABLE } from './server.ts';
import { AMAIL, type AmailSettings, type ServerSetting, TOKEN_VARIABLE } from './settings.ts';
import { watchSignals } from './signals.ts';
import { type AmailSource, createAmailSource } from './source.ts';

/** How often Hivebar looks for a server that is not there. */
const APPEARS_EVERY_MS = 60_000;
/** An environment file is read again at most once in this time. */
const REREAD_MS = 1000;
const SCOPE = { is: 'source', key: AMAIL } as const;

/**
 * Opens the server of this user. One that the settings name is watched even if nothing answers. Another is watched from its first
 * answer on. Null when the settings switch it off.
 */
export function openAmail({ amail }: AmailSettings, host: SourceHost): WatchedSource | null {
  if (amail.is === 'off') return null;
  if (amail.base !== undefined) {
    const { hive, source, close } = openHive(amail, resolvePlaces(amail, host), host);
    return { hives: [hive], findPage: createPageFinder(() => source), [Symbol.asyncDispose]: async () => close() };
  }
  const search = createSearch(amail, host);
  return {
    ...{ hives: [], services: [search], poll: search.wake },
    findPage: createPageFinder(() => search.source),
    [Symbol.asyncDispose]: async () => {},
  };
}

function createPageFinder(getSource: () => AmailSource | null): NonNullable<WatchedSource['findPage']> {
  return ({ id, source }) => (source === AMAIL ? (getSource()?.findPage(id) ?? null) : null);
}

interface ServerSearch extends PeriodicService {
  /** The server that is watched now; null while none is. */
  readonly source: AmailSource | null;
}

/** Watches a server from its first answer on. */
function createSearch(amail: ServerSetting, host: SourceHost): ServerSearch {
  let places: AmailPlaces | null = null;
  let found = new AbortController();
  let watched: AmailSource | null = null;
  const rounds = every({
    ...{ name: 'search', ms: APPEARS_EVERY_MS, clock: host.clock },
    async round(signal) {
      const now = resolvePlaces(amail, host);
      if (!(await isServerThere(now, amail, host, signal))) return;
      places = now;
      found.abort();
    },
  });
  return {
    name: 'search for a mail server',
    wake: rounds.wake,
    get source() {
      return watched;
    },
    async run(signal) {
      if (places === null) {
        found = new AbortController();
        await rounds.run(AbortSignal.any([signal, found.signal]));
      }
      if (places === null || signal.aborted) return;
      const { hive, source, close } = openHive(amail, places, host);
      watched = source;
      const handle = host.watch(hive);
      host.log.info(`${AMAIL}: watching the mail server at ${hive.address}`);
      await untilAborted(signal);
      await handle.release();
      watched = null;
      await source[Symbol.asyncDispose]();
      close();
    },
  };
}

export function resolvePlaces(
  setting: ServerSetting,
  { env, disk }: Pick<SourceEnvironment, 'env' | 'disk'>,
): AmailPlaces {
  return resolveAmailPlaces(setting, { files: toReadOnlyFiles(disk.files, AMAIL), env, home: findOwnHome() });
}

/** Whether a mail server answers there. Where nothing listens, no client is loaded. */
export async function isServerThere(
  places: AmailPlaces,
  setting: ServerSetting,
  host: SourceEnvironment,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await isListening(new URL(places.base), signal))) return false;
  await using server = openServer(setting, places, 0, host, null);
  try {
    return await server.isAlive(signal);
  } catch {
    return false; // another program listens there
  }
}

/** Lists where a server is looked for. Another machine is not asked. */
export async function findAmailPlaces(
  { amail }: AmailSettings,
  host: SourceEnvironment,
): Promise<readonly SourcePlace[]> {
  if (amail.is === 'off') return [];
  const places = resolvePlaces(amail, host);
  const { base, envFile, store, signals } = places;
  const [firstEnvFile = ''] = listEnvFiles(amail, { env: host.env, home: findOwnHome() });
  const isHere = /^(?:127\.|localhost$|\[::1\]$)/.test(new URL(base).hostname);
  const answers = isHere && (await isServerThere(places, amail, host, host.stop));
  const find = (path: string): string | null => (isThere(host.disk.files, path) ? 'there' : null);
  return [
    { what: 'MCP Agent Mail server', where: base, found: answers ? 'it answers' : null },
    { what: 'its environment file', where: envFile ?? firstEnvFile, found: envFile === null ? null : 'there' },
    { what: 'its store', where: store, found: find(store) },
    { what: 'its signal files', where: signals, found: find(signals) },
  ];
}

/** @param credentials null for a request that shows no token, as the first to a server that nobody knows yet */
export function openServer(
  setting: ServerSetting,
  { base }: AmailPlaces,
  contentChars: number | null,
  { clock, log, version }: Pick<SourceEnvironment, 'clock' | 'log' | 'version'>,
  credential: Credentials | null,
): MailServer {
  const fetcher = createHttpClient({
    ...{ url: setting.base ?? base, policy: AS_WRITTEN, scope: SCOPE, userAgent: `hivebar/${version}`, credential },
    accepts: [UNAVAILABLE],
  });
  return createMailServer({ fetcher, base, clock, log, contentChars });
}

function openHive(
  setting: ServerSetting,
  places: AmailPlaces,
  host: SourceHost,
): { readonly hive: WatchedHive; readonly source: AmailSource; close(): void } {
  const { clock, disk, state, contentChars } = host;
  const { base, signals } = places;
  const memory = openAmailMemory(state, host);
  const server = openServer(setting, places, contentChars, host, createCredentials(setting, host));
  const files = toReadOnlyFiles(disk.files, AMAIL);
  const replyToAgent: ReplyToMailAgent = async (...call) => {
    const { createMailReply } = await import('./reply.node.ts'); // loaded when a person replies
    return await createMailReply(host)(...call);
  };
  const source = createAmailSource({
    ...{ server, base, clock, memory },
    watchSignals: (heard) => watchSignals(signals, { clock, files }, heard),
    ...(setting.inboxEvents === true ? { runInboxEvents: createInboxEventsRunner(base, host) } : {}),
    ...(setting.actions === true ? { replyToAgent, acting: host.log } : {}),
  });
  const { protocol, hostname, port } = new URL(base);
  return {
    hive: {
      source,
      address: base,
      identity: ({ address }) => [protocol.slice(0, -1), hostname, Number(port || 80), AMAIL, [['persona', address]]],
      named: source.named,
      holdMs: null,
      kind: 'remote',
      deliversBacklog: false,
    },
    source,
    close: () => memory[Symbol.dispose](),
  };
}

/** The token: of the file in the settings, else of the variable, else of the environment file of the server. */
export function createCredentials(
  setting: ServerSetting,
  host: Pick<SourceEnvironment, 'env' | 'disk' | 'clock' | 'log'>,
): Credentials {
  const { env, clock, log } = host;
  if (setting.tokenFile !== undefined)
    return createTokenFileCredentials({ path: setting.tokenFile, scope: SCOPE, clock, log });
  const variable = env[TOKEN_VARIABLE]?.trim() ?? '';
  let readAt = Number.NEGATIVE_INFINITY;
  let header: Header | null = null;
  let from = 'a request without a token';
  const read = (): void => {
    readAt = clock.monotonic();
    const { token, envFile } = variable === '' ? resolvePlaces(setting, host) : { token: variable, envFile: null };
    const next = readCredential({ tokenFile: null, tokenVariable: token ?? '', authHeader: null }, log);
    if (next?.value !== header?.value) header = next;
    if (header === null) from = 'a request without a token';
    else from = `the token in ${envFile === null ? TOKEN_VARIABLE : JSON.stringify(envFile)}`;
  };
  return {
    get about() {
      return from;
    },
    header() {
      if (readAt === Number.NEGATIVE_INFINITY) read();
      return header;
    },
    refresh(refused) {
      if (header === refused && clock.monotonic() - readAt >= REREAD_MS) read();
      return header !== refused;
    },
  };
}
