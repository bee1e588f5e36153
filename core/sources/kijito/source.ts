import { hash } from 'node:crypto';
import {
  AGENT_STATE_NOT_REPORTED,
  Fault,
  isOwnId,
  type OwnIds,
  type PersonaId,
  type SourceId,
} from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { DirectoryMember, PendingCountsReader, Persona, PersonaDirectory, PollResult, Source } from '../source.ts';
import type { HiveClient, HiveWindow } from './client.ts';

export interface KijitoOptions {
  readonly id: SourceId;
  /** Owned by the source, which closes it. */
  readonly client: HiveClient;
  readonly clock: Clock;
  readonly members: Members;
}

/** The watched personas: those of the hive's directory, or the one inbox of a `--url`. */
export type Members =
  | {
      readonly is: 'directory';
      /** Added in front of each name; empty for the primary hive. */
      readonly prefix: string;
      /** The ids of other sources, which no bare name may have. */
      readonly reserved: readonly OwnIds[];
    }
  | { readonly is: 'single'; readonly persona: Persona };

/** The event key `source` of every hive, local or not. */
export const KIJITO_KIND = 'kijito-inbox';

/** The persona of a directory entry, with the id that Hivebar gives it. */
export function toKijitoPersona(address: string, members: Members & { readonly is: 'directory' }): Persona {
  return { id: toPersonaId(address, members.prefix, members.reserved), address, label: address };
}

const NOTHING_REPORTED: DirectoryMember = { memories: null, retired: false, writeOnly: false, mail: null };

/** A hive as a source: a log of messages with rising ids, read without consuming (Kijito spec 5 and 9). */
export function createKijitoSource({ id, client, clock, members }: KijitoOptions): Source {
  let directory: PersonaDirectory | null = null;
  const personas = async (signal: AbortSignal): Promise<readonly Persona[]> => {
    if (members.is === 'single') return [members.persona];
    if (client.personas === undefined) {
      throw new Fault('not-found', `${id} has no directory of personas`, { is: 'source', key: id });
    }
    const requestedAt = clock.monotonic();
    const byAddress =
      (await client.directory?.(signal)) ??
      new Map((await client.personas(signal)).map((name) => [name, NOTHING_REPORTED]));
    directory = { requestedAt, byAddress };
    return [...byAddress.keys()].map((address) => toKijitoPersona(address, members));
  };
  const toPollResult = ({ unread, urgent, ...log }: HiveWindow): PollResult => ({
    at: clock.now(),
    unread,
    urgent,
    agentState: AGENT_STATE_NOT_REPORTED,
    evidence: { is: 'log', ...log },
  });
  return {
    id,
    kind: KIJITO_KIND,
    personas,
    ...(members.is === 'single' ? {} : { directory: () => directory }),
    poll(persona, from, signal) {
      const after = from.is === 'at' ? from.id : null;
      const done = from.is === 'at' ? (from.done ?? []) : [];
      const window = client.window(persona.address, after, signal, done);
      return window instanceof Promise ? window.then(toPollResult) : toPollResult(window);
    },
    ...(client.pending === undefined
      ? {}
      : { pending: createPendingCountsReader(client.pending.bind(client), client.hints === undefined) }),
    ...(client.markRead === undefined ? {} : { markRead: createMarkRead(client.markRead.bind(client)) }),
    ...(client.isGone === undefined ? {} : { isGone: createIsGone(client.isGone.bind(client)) }),
    ...(client.reset === undefined ? {} : { reset: client.reset.bind(client) }),
    ...(client.hints === undefined ? {} : { hints: client.hints.bind(client) }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function createIsGone(isGone: NonNullable<HiveClient['isGone']>): NonNullable<Source['isGone']> {
  return ({ address }) => isGone(address);
}

function createMarkRead(markAddressRead: NonNullable<HiveClient['markRead']>): NonNullable<Source['markRead']> {
  return ({ address }, which) => markAddressRead(address, which);
}

function createPendingCountsReader(
  ask: NonNullable<HiveClient['pending']>,
  hidesChanges: boolean,
): PendingCountsReader {
  return {
    hidesChanges,
    once: (signal) => ask(null, signal),
    hold: (cursor, ms, signal) => ask({ cursor, ms }, signal),
  };
}

/**
 * The id of a persona: `prefix` and the name. A bare name that is an id of another source gets a hash, so
 * that no hive can pass its persona off as another source's.
 */
function toPersonaId(address: string, prefix: string, reserved: readonly OwnIds[]): PersonaId {
  if (prefix !== '') return prefix + address;
  if (!reserved.some((ids) => isOwnId(ids, address))) return address;
  return `${address}~${hash('sha256', address).slice(0, 6)}`;
}

/** `[scheme, host, port, path, [[key, value], ... sorted]]`: which inbox a saved cursor belongs to. */
export type InboxIdentity = readonly [
  scheme: string,
  host: string,
  port: number,
  path: string,
  query: readonly (readonly [key: string, value: string])[],
];

/**
 * The canonical identity of an inbox URL, before any DNS (Kijito spec 7.3, contract d). Scheme and host are in lower case and the
 * port is filled in. The path has no slash at its end, and query pairs are sorted by code point.
 * `mark_read`, user name and fragment are left out. The identity survives a JSON round trip.
 */
export function toInboxIdentity(url: URL): InboxIdentity {
  const query = [...url.searchParams].filter(([key]) => key !== 'mark_read').sort(compareByCodePoint);
  return [
    url.protocol.slice(0, -1),
    url.hostname.replace(/^\[(.*)\]$/, '$1'),
    url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    url.pathname.replace(/\/+$/, ''),
    query,
  ];
}

/** UTF-8 bytes sort as code points do; UTF-16 units, which `<` compares, do not. */
function compareByCodePoint(a: readonly [string, string], b: readonly [string, string]): number {
  return Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])) || Buffer.compare(Buffer.from(a[1]), Buffer.from(b[1]));
}

export function formatIdentity(identity: InboxIdentity): string {
  return JSON.stringify(identity);
}

/** `saved` is the value from a state file, of any shape. */
export function isSameIdentity(identity: InboxIdentity, saved: unknown): boolean {
  return JSON.stringify(saved) === formatIdentity(identity);
}
