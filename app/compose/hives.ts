import type { LocalHive } from '../../core/inbox/index.ts';
import type { Scope } from '../../core/model/index.ts';
import { AS_WRITTEN, httpClient, readCredential } from '../../core/net/index.ts';
import {
  type HiveClient,
  hiveAt,
  httpHive,
  identityOf,
  kijitoPersona,
  kijitoSource,
  type Members,
  type Persona,
  type Source,
} from '../../core/sources/index.ts';
import type { Primary, Settings, SettingsFile } from '../config/tray/index.ts';
import { version } from '../version.node.ts';
import type { Machine } from './machine.ts';

/** One hive the tray process watches. */
export interface WatchedHive {
  readonly source: Source;
  /** For a person: where it is. */
  readonly address: string;
  /** Which inbox a kept position belongs to; JSON. */
  identity(persona: Persona): unknown;
  named(address: string): Persona;
  /** Long-poll hold, null for none. */
  readonly holdMs: number | null;
  /** Ours from its first message on: nothing in it is older than the watch. */
  readonly isLocal: boolean;
}

/** Prefixes of every source beside the primary hive: a bare name may not begin with one. */
const RESERVED = ['local-', 'garden-', 'bc-', 'prism-'];
const KIJITO = 'http://127.0.0.1:7474';
const PROBE_MS = 1000;

/**
 * Which hive owns the bare names. Decided once, on the first run, and written down: a Kijito daemon that answers on
 * 127.0.0.1:7474, else the local hive (ARCHITECTURE, decision 2).
 */
export async function primaryOf(
  file: SettingsFile,
  machine: Machine,
): Promise<{ primary: Primary; isFirstRun: boolean }> {
  const known = file.settings.primary;
  if (known !== undefined) return { primary: known, isFirstRun: false };
  const primary: Primary = (await kijitoAnswers(machine)) ? { is: 'kijito', base: KIJITO } : { is: 'local' };
  file.decide(primary);
  machine.log.info(
    `first run: the primary hive is ${primary.is === 'local' ? 'the local one' : primary.base} (${file.path})`,
  );
  return { primary, isFirstRun: true };
}

async function kijitoAnswers(machine: Machine): Promise<boolean> {
  const probe = { id: 'probe', base: KIJITO, members: directory('', RESERVED), credential: null };
  const { source } = kijitoHive(probe, null, PROBE_MS, machine);
  try {
    await source.personas(machine.stop);
    return true;
  } catch {
    return false; // nobody there, or somebody else: that is the answer
  } finally {
    await source[Symbol.asyncDispose]();
  }
}

/** The hives of this machine: the primary first, those of the settings last. */
export function hivesOf(
  primary: Primary,
  settings: Settings,
  local: LocalHive,
  machine: Machine,
): readonly WatchedHive[] {
  const reserved = [...RESERVED, ...settings.hives.map(({ name }) => `${name}-`)];
  const further = settings.hives.map(({ name: id, base, tokenFile }) => {
    const credential = tokenFile === undefined ? null : { tokenFile, tokenVariable: undefined };
    return kijitoHive({ id, base, members: directory(`${id}-`, reserved), credential }, settings, undefined, machine);
  });
  if (primary.is === 'local') return [localHive(local, directory('', reserved), machine), ...further];
  const { base } = primary;
  const credential = { tokenFile: settings.tokenFile ?? null, tokenVariable: machine.env.KIJITOMON_TOKEN };
  const far = { id: 'kijito', base, members: directory('', reserved), credential };
  return [
    kijitoHive(far, settings, undefined, machine),
    localHive(local, directory('local-', reserved), machine),
    ...further,
  ];
}

type Directory = Members & { readonly is: 'directory' };

interface FarHive {
  readonly id: string;
  readonly base: string;
  readonly members: Directory;
  readonly credential: { readonly tokenFile: string | null; readonly tokenVariable: string | undefined } | null;
}

function kijitoHive(
  { id, base, members, credential: given }: FarHive,
  settings: Settings | null,
  deadlineMs: number | undefined,
  machine: Machine,
): WatchedHive {
  const scope: Scope = { is: 'source', key: id };
  const hive = hiveAt(base, scope);
  const credential = given === null ? null : readCredential({ ...given, authHeader: null }, machine.log);
  const fetcher = httpClient({
    url: base,
    policy: AS_WRITTEN,
    scope,
    userAgent: `hivebar/${version()}`,
    credential,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  const holdMs = settings === null || settings.holdSeconds === 0 ? null : settings.holdSeconds * 1000;
  const { clock } = machine;
  const contentChars = settings?.contentChars ?? null;
  return {
    source: kijitoSource({
      id,
      clock,
      members,
      client: httpHive({ hive, fetcher, clock, contentChars, longPoll: holdMs !== null, scope }),
    }),
    address: base,
    identity: (persona) => identityOf(hive.inbox(persona.address)),
    named: (address) => kijitoPersona(address, members),
    holdMs,
    isLocal: false,
  };
}

/** The local hive is watched by the same source as any other, through a client in the same process. */
function localHive(local: LocalHive, members: Directory, { clock }: Machine): WatchedHive {
  const client: HiveClient = {
    personas: async () => local.personas().map(({ name }) => name),
    window: local.window,
    pending: async (hold, signal) => {
      local.changedElsewhere();
      return await local.pending(hold, signal);
    },
    markRead: local.markRead,
    hints: local.hints,
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    source: kijitoSource({ id: 'local', client, clock, members }),
    address: 'this machine',
    identity: (persona) => ['local', persona.address],
    named: (address) => kijitoPersona(address, members),
    holdMs: null,
    isLocal: true,
  };
}

function directory(prefix: string, reserved: readonly string[]): Directory {
  return { is: 'directory', prefix, reserved };
}
