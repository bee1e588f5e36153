import type { Scope } from '../../core/model/index.ts';
import {
  AS_WRITTEN,
  httpClient,
  onlyPublicAnd,
  readCredential,
  shownUrl,
  tokenFileCredentials,
} from '../../core/net/index.ts';
import {
  hiveAt,
  httpHive,
  type Identity,
  identityOf,
  kijitoSource,
  type Persona,
  type Source,
  singleInbox,
} from '../../core/sources/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { version } from '../version.node.ts';
import type { Machine } from './machine.ts';

export interface WatchSource extends AsyncDisposable {
  readonly source: Source;
  /** Which inbox a saved position belongs to. */
  identity(persona: Persona): Identity;
  /** A name of the hive as a persona of this watch: headless, ids are the bare names. */
  named(address: string): Persona;
}

/**
 * The hive or the one inbox that a headless watch looks at.
 * @throws Fault `bad-url`, `blocked`, `unreadable` or `usage` for what the user wrote
 */
export function watchSource(plan: WatchPlan, machine: Machine): WatchSource {
  const { targets, contentChars } = plan;
  const { clock } = machine;
  const scope: Scope = { is: 'source', key: 'kijito' };
  const isUrl = targets.is === 'url';
  const hive = isUrl ? singleInbox(targets.url, scope) : hiveAt(plan.hive, scope);
  const policy = isUrl ? onlyPublicAnd({ loopback: targets.allowLoopback, private: targets.allowPrivate }) : AS_WRITTEN;
  const fetcher = httpClient({
    url: isUrl ? targets.url : plan.hive,
    policy,
    scope,
    userAgent: `hivebar/${version()}`,
    credential: credentialOf(plan, machine, scope),
  });
  const client = httpHive({
    hive,
    fetcher,
    clock,
    contentChars,
    longPoll: plan.waitSeconds > 0,
    scope,
    log: machine.log,
  });
  const named = (address: string): Persona => ({ id: address, address, label: address });
  const source = kijitoSource({
    id: 'kijito',
    client,
    clock,
    members: isUrl
      ? { is: 'single', persona: { id: '_', address: '', label: shownUrl(hive.inbox('')) } }
      : { is: 'directory', prefix: '', reserved: [] },
  });
  return {
    source,
    identity: (persona) => identityOf(hive.inbox(persona.address)),
    named,
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** Read at once, since one that can not be read is the user's mistake; and the file again whenever its token is refused. */
function credentialOf({ tokenFile, authHeader }: WatchPlan, { clock, log, env }: Machine, scope: Scope) {
  const held = readCredential({ tokenFile, tokenVariable: env.KIJITOMON_TOKEN, authHeader }, log);
  if (tokenFile === null || held === null) return held;
  return tokenFileCredentials({ path: tokenFile, scope, clock, log, authHeader, held });
}
