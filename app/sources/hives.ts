import type { LocalHive } from '../../core/inbox/index.ts';
import { type PersonaId, RESERVED_PREFIXES, type Scope, SOURCE_PREFIXES } from '../../core/model/index.ts';
import {
  AS_WRITTEN,
  type Credentials,
  createHttpClient,
  createTokenFileCredentials,
  readCredential,
} from '../../core/net/index.ts';
import {
  createHttpHive,
  createKijitoSource,
  type HiveClient,
  type Members,
  type Persona,
  parseHiveUrl,
  type Source,
  toInboxIdentity,
  toKijitoPersona,
} from '../../core/sources/index.ts';
import type { Primary, Settings, SettingsFile } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.ts';
import { readVersion } from '../version.node.ts';

/** One hive that the tray process watches. */
export interface WatchedHive {
  readonly source: Source;
  /** Where the hive is, as a text for a person. */
  readonly address: string;
  /** Says which inbox a saved position belongs to, as JSON. */
  identity(persona: Persona): unknown;
  named(address: string): Persona;
  /** How long the hive holds a long poll, in milliseconds; null for no long poll. */
  readonly holdMs: number | null;
  /**
   * `embedded`: the hive that Hivebar itself serves. `disk`: files of this machine. `remote`: behind a connection, so that only so many
   * polls run at once. The identities of the first two name the address second.
   */
  readonly kind: 'embedded' | 'disk' | 'remote';
  /**
   * The first poll of a persona delivers its whole inbox, where a setting says so. Else it is a baseline: counted, and not
   * delivered. The embedded hive has no mail from before Hivebar, so there it is always so.
   */
  readonly deliversBacklog: boolean;
  /**
   * Resolves as soon as there is something to watch, or when the signal aborts. `came` means that the hive did not exist before,
   * so all of its mail came while Hivebar was running and is news. Without this method the hive is always present.
   */
  appears?(signal: AbortSignal): Promise<'there' | 'came'>;
}

const KIJITO = 'http://127.0.0.1:7474';
const TOKEN = 'KIJITOMON_TOKEN';
const PROBE_MS = 1000;

/**
 * Decides which hive owns the bare names. This is decided once, on the first run, and written down: a Kijito daemon that answers
 * on 127.0.0.1:7474, else the local hive (ARCHITECTURE, decision 2).
 */
export async function decidePrimary(
  file: SettingsFile,
  machine: Machine,
): Promise<{ primary: Primary; isFirstRun: boolean }> {
  const known = file.settings.primary;
  if (known !== undefined) return { primary: known, isFirstRun: false };
  const primary: Primary = (await isKijitoAnswering(machine)) ? { is: 'kijito', base: KIJITO } : { is: 'local' };
  file.decide(primary);
  machine.log.info(
    `first run: the primary hive is ${primary.is === 'local' ? 'the local one' : primary.base} (${file.path})`,
  );
  return { primary, isFirstRun: true };
}

async function isKijitoAnswering(machine: Machine): Promise<boolean> {
  const probe = {
    id: 'probe',
    base: KIJITO,
    members: createDirectory('', RESERVED_PREFIXES),
    credential: null,
    proxy: undefined,
  };
  const { source } = createKijitoHive(probe, null, machine, PROBE_MS);
  try {
    await source.personas(machine.stop);
    return true;
  } catch {
    return false; // no server, or another kind of server, answers there: that decides it
  } finally {
    await source[Symbol.asyncDispose]();
  }
}

/**
 * Opens the hives of this machine, the primary first, those of the settings last. Each is a source of its own, with its own
 * connections, token and proxy. A fault of one, its token file included, affects no other and is retried.
 */
export function openHives(
  primary: Primary,
  settings: Settings,
  local: LocalHive,
  machine: Machine,
): readonly WatchedHive[] {
  const reserved = [...RESERVED_PREFIXES, ...settings.hives.map(({ name }) => `${name}-`)];
  const further = settings.hives.map(({ name: id, base, tokenFile, proxy }) => {
    const credential = tokenFile === undefined ? null : createTokenCredentials(id, tokenFile, machine);
    return createKijitoHive(
      { id, base, members: createDirectory(`${id}-`, reserved), credential, proxy },
      settings,
      machine,
    );
  });
  if (primary.is === 'local') return [createLocalHive(local, createDirectory('', reserved), machine), ...further];
  const id = 'kijito';
  const { base, proxy } = primary;
  const credential =
    settings.tokenFile === undefined
      ? createVariableCredentials(machine)
      : createTokenCredentials(id, settings.tokenFile, machine);
  return [
    createKijitoHive({ id, base, members: createDirectory('', reserved), credential, proxy }, settings, machine),
    createLocalHive(local, createDirectory(SOURCE_PREFIXES.local, reserved), machine),
    ...further,
  ];
}

/** Creates the function that returns the id on the board of a persona of the local hive. */
export function createLocalIdLookup(hives: readonly WatchedHive[]): (name: string) => PersonaId {
  const local = hives.find(({ kind }) => kind === 'embedded');
  return (name) => local?.named(name).id ?? name;
}

function createTokenCredentials(id: string, path: string, { clock, log }: Machine): Credentials {
  return createTokenFileCredentials({ path, scope: { is: 'source', key: id }, clock, log });
}

/** Reads the token of the primary hive only, because one variable cannot hold the tokens of several hives. */
function createVariableCredentials({ env, log }: Machine): Credentials {
  const tokenVariable = env[TOKEN];
  const isSet = tokenVariable !== undefined && tokenVariable.trim() !== '';
  return {
    about: isSet ? `the token in ${TOKEN}` : 'a request without a token',
    header: () => readCredential({ tokenFile: null, tokenVariable, authHeader: null }, log),
    refresh: () => false,
  };
}

/**
 * Hides the token in the environment from everything that starts programs, because only the hive may have it (Kijito contract
 * D12). It is a view and not a copy, since on Windows a copy would know `Path` and not `PATH`.
 */
export function hideToken(machine: Machine): Machine {
  const isToken = (key: string | symbol): boolean => typeof key === 'string' && key.toUpperCase() === TOKEN;
  const env = new Proxy(machine.env, {
    get: (target, key) => (isToken(key) ? undefined : Reflect.get(target, key)),
    has: (target, key) => !isToken(key) && Reflect.has(target, key),
    ownKeys: (target) => Reflect.ownKeys(target).filter((key) => !isToken(key)),
  });
  return { ...machine, env };
}

type HiveDirectory = Members & { readonly is: 'directory' };

interface RemoteHive {
  readonly id: string;
  readonly base: string;
  readonly members: HiveDirectory;
  readonly credential: Credentials | null;
  readonly proxy: string | undefined;
}

function createKijitoHive(
  { id, base, members, credential, proxy }: RemoteHive,
  settings: Settings | null,
  machine: Machine,
  deadlineMs?: number,
): WatchedHive {
  const scope: Scope = { is: 'source', key: id };
  const hive = parseHiveUrl(base, scope);
  const fetcher = createHttpClient({
    url: base,
    policy: AS_WRITTEN,
    scope,
    userAgent: `hivebar/${readVersion()}`,
    credential,
    ...(proxy === undefined ? {} : { proxy }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  const holdMs = settings === null || settings.holdSeconds === 0 ? null : settings.holdSeconds * 1000;
  const { clock, log } = machine;
  const contentChars = settings?.contentChars ?? null;
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

/** Opens the local hive with the same source as any other hive, through a client in the same process. */
function createLocalHive(local: LocalHive, members: HiveDirectory, { clock }: Machine): WatchedHive {
  const client: HiveClient = {
    personas: async () => local.personas().map(({ name }) => name),
    window: local.window,
    pending: async (hold, signal) => {
      local.changedElsewhere();
      return await local.pending(hold, signal);
    },
    markRead: local.markRead,
    isGone: local.elsewhere.has,
    // Mail to a persona that lives elsewhere is sent mail, and no watcher waits for it here.
    hints(wake) {
      const hints = local.hints((address) => {
        if (!local.elsewhere.has(address)) wake(address);
      });
      const moves = local.moves(wake);
      return {
        [Symbol.dispose]() {
          hints[Symbol.dispose]();
          moves[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    source: createKijitoSource({ id: 'local', client, clock, members }),
    address: 'this machine',
    identity: (persona) => ['local', persona.address],
    named: (address) => toKijitoPersona(address, members),
    holdMs: null,
    kind: 'embedded',
    deliversBacklog: true,
  };
}

export function createDirectory(prefix: string, reserved: readonly string[]): HiveDirectory {
  return { is: 'directory', prefix, reserved };
}
