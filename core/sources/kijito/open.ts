import type { OwnIds, Scope } from '../../model/index.ts';
import {
  AS_WRITTEN,
  type Credentials,
  createHttpClient,
  createTokenFileCredentials,
  readCredential,
} from '../../net/index.ts';
import type { SourceEnvironment, SourceHost, SourcePlace, WatchedHive, WatchedSource } from '../module.ts';
import { createHttpHive, parseHiveUrl } from './http-hive.ts';
import { KIJITO, type KijitoSettings, listConfiguredHives, type PrimarySetting, TOKEN_VARIABLE } from './settings.ts';
import { createKijitoSource, type Members, toInboxIdentity, toKijitoPersona } from './source.ts';

/** Where a Kijito daemon listens on the machine of its user. */
const KIJITO_ADDRESS = 'http://127.0.0.1:7474';
const PROBE_MS = 1000;

/** Finds the Kijito daemon of this machine. Null when nothing answers as a hive does. */
export async function findPrimary(host: SourceEnvironment): Promise<PrimarySetting | null> {
  const members = toDirectory('', host.reservedIds);
  const remote = { id: 'probe', base: KIJITO_ADDRESS, members, credential: null, proxy: undefined };
  const { source } = createKijitoHive(remote, { holdMs: null, contentChars: null, deadlineMs: PROBE_MS }, host);
  try {
    await source.personas(host.stop);
    return { is: KIJITO, base: KIJITO_ADDRESS };
  } catch {
    return null; // no server, or another kind of server, answers there: that decides it
  } finally {
    await source[Symbol.asyncDispose]();
  }
}

/** The hives of the settings, and the place of a daemon of this machine. No request is made. */
export function findHivePlaces(settings: KijitoSettings): readonly SourcePlace[] {
  const hives = listConfiguredHives(settings);
  const isKnown = hives.some(({ base }) => base === KIJITO_ADDRESS);
  const own = isKnown ? [] : [{ what: 'Kijito daemon', where: KIJITO_ADDRESS, found: null }];
  return [...own, ...hives.map(({ name, base }) => ({ what: `hive ${name}`, where: base, found: 'in the settings' }))];
}

/**
 * Opens the hives of the settings, the primary first. Each is a source of its own, with its own connections, token and proxy.
 * A fault of one, its token file included, affects no other and is retried.
 */
export function openKijito(
  { primary, hives, tokenFile: primaryTokenFile }: KijitoSettings,
  host: SourceHost,
): WatchedSource {
  const { reservedIds: reserved, holdSeconds, contentChars } = host;
  const rules = { holdMs: holdSeconds === 0 ? null : holdSeconds * 1000, contentChars };
  const watched = hives.map(({ name: id, base, tokenFile, proxy }) => {
    const credential = tokenFile === undefined ? null : createTokenCredentials(id, tokenFile, host);
    return createKijitoHive({ id, base, members: toDirectory(`${id}-`, reserved), credential, proxy }, rules, host);
  });
  if (primary?.is === KIJITO) {
    const { base, proxy } = primary;
    const credential =
      primaryTokenFile === undefined
        ? createVariableCredentials(host)
        : createTokenCredentials(KIJITO, primaryTokenFile, host);
    const remote = { id: KIJITO, base, members: toDirectory('', reserved), credential, proxy };
    watched.unshift(createKijitoHive(remote, rules, host));
  }
  return {
    hives: watched,
    async [Symbol.asyncDispose]() {
      await Promise.all(watched.map(({ source }) => source[Symbol.asyncDispose]()));
    },
  };
}

function createTokenCredentials(id: string, path: string, { clock, log }: SourceEnvironment): Credentials {
  return createTokenFileCredentials({ path, scope: { is: 'source', key: id }, clock, log });
}

/** Reads the token of the primary hive only, because one variable cannot hold the tokens of several hives. */
function createVariableCredentials({ env, log }: SourceEnvironment): Credentials {
  const tokenVariable = env[TOKEN_VARIABLE];
  const isSet = tokenVariable !== undefined && tokenVariable.trim() !== '';
  return {
    about: isSet ? `the token in ${TOKEN_VARIABLE}` : 'a request without a token',
    header: () => readCredential({ tokenFile: null, tokenVariable, authHeader: null }, log),
    refresh: () => false,
  };
}

type HiveDirectory = Members & { readonly is: 'directory' };

interface RemoteHive {
  readonly id: string;
  readonly base: string;
  readonly members: HiveDirectory;
  readonly credential: Credentials | null;
  readonly proxy: string | undefined;
}

interface HiveRules {
  readonly holdMs: number | null;
  /** Null: no content. */
  readonly contentChars: number | null;
  readonly deadlineMs?: number;
}

function createKijitoHive(
  { id, base, members, credential, proxy }: RemoteHive,
  { holdMs, contentChars, deadlineMs }: HiveRules,
  { clock, log, version }: SourceEnvironment,
): WatchedHive {
  const scope: Scope = { is: 'source', key: id };
  const hive = parseHiveUrl(base, scope);
  const fetcher = createHttpClient({
    url: base,
    policy: AS_WRITTEN,
    scope,
    userAgent: `hivebar/${version}`,
    credential,
    ...(proxy === undefined ? {} : { proxy }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  return {
    source: createKijitoSource({
      id,
      clock,
      members,
      client: createHttpHive({ hive, fetcher, clock, contentChars, longPoll: holdMs !== null, scope, log }),
    }),
    address: base,
    identity: (persona) => toInboxIdentity(hive.inbox(persona.address)),
    named: (address) => toKijitoPersona(address, members),
    holdMs,
    kind: 'remote',
    deliversBacklog: false,
  };
}

const toDirectory = (prefix: string, reserved: readonly OwnIds[]): HiveDirectory => ({
  is: 'directory',
  prefix,
  reserved,
});
