import type { Scope } from '../../core/model/index.ts';
import {
  AS_WRITTEN,
  createHttpClient,
  createPublicPolicy,
  createTokenFileCredentials,
  formatUrl,
  readCredential,
} from '../../core/net/index.ts';
import {
  createHttpHive,
  createKijitoSource,
  type InboxIdentity,
  type Persona,
  parseHiveUrl,
  parseInboxUrl,
  type Source,
  toInboxIdentity,
} from '../../core/sources/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.ts';
import { readVersion } from '../version.node.ts';

export interface WatchSource extends AsyncDisposable {
  readonly source: Source;
  /** Says which inbox a saved position belongs to. */
  identity(persona: Persona): InboxIdentity;
  /** Returns a name of the hive as a persona of this watch. In a headless watch the ids are the bare names. */
  named(address: string): Persona;
}

/**
 * Opens the hive or the single inbox that a headless watch polls.
 * @throws Fault `bad-url`, `blocked`, `unreadable` or `usage` for what the user wrote
 */
export function openWatchSource(plan: WatchPlan, machine: Machine): WatchSource {
  const { targets, contentChars } = plan;
  const { clock } = machine;
  const scope: Scope = { is: 'source', key: 'kijito' };
  const isUrl = targets.is === 'url';
  const hive = isUrl ? parseInboxUrl(targets.url, scope) : parseHiveUrl(plan.hive, scope);
  const policy = isUrl
    ? createPublicPolicy({ loopback: targets.allowLoopback, private: targets.allowPrivate })
    : AS_WRITTEN;
  const fetcher = createHttpClient({
    url: isUrl ? targets.url : plan.hive,
    policy,
    scope,
    userAgent: `hivebar/${readVersion()}`,
    credential: readWatchCredential(plan, machine, scope),
  });
  const client = createHttpHive({
    hive,
    fetcher,
    clock,
    contentChars,
    longPoll: plan.waitSeconds > 0,
    scope,
    log: machine.log,
  });
  const named = (address: string): Persona => ({ id: address, address, label: address });
  const source = createKijitoSource({
    id: 'kijito',
    client,
    clock,
    members: isUrl
      ? { is: 'single', persona: { id: '_', address: '', label: formatUrl(hive.inbox('')) } }
      : { is: 'directory', prefix: '', reserved: [] },
  });
  return {
    source,
    identity: (persona) => toInboxIdentity(hive.inbox(persona.address)),
    named,
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/**
 * The file is read at once, because a file that cannot be read is the user's mistake. It is read again whenever its token is
 * refused.
 */
function readWatchCredential({ tokenFile, authHeader }: WatchPlan, { clock, log, env }: Machine, scope: Scope) {
  const held = readCredential({ tokenFile, tokenVariable: env.KIJITOMON_TOKEN, authHeader }, log);
  if (tokenFile === null || held === null) return held;
  return createTokenFileCredentials({ path: tokenFile, scope, clock, log, authHeader, held });
}
