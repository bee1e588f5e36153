import { createHash, timingSafeEqual } from 'node:crypto';
import { parseBearer } from './token.ts';

/** A token of an installed daemon, as its hash. `observe` is the daemon's own, `act` that of its surfaces. */
export interface DaemonKey {
  readonly scope: 'observe' | 'act';
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  readonly tenant: string;
  readonly identity: string;
  /** Its persona in the local hive: the token is good for no other. */
  readonly address: string;
}

/** The tokens of all installed daemons, as they are now. */
export interface DaemonKeys {
  all(): readonly DaemonKey[];
}

/** Who asks: the owner of the machine, who may act for any address, or somebody with a token of a daemon. */
export type Caller = { readonly is: 'owner' } | { readonly is: 'keyed'; readonly key: DaemonKey };

export interface Callers {
  /** By `Authorization: Bearer TOKEN`. `nobody`: none was given; `wrong`: it is none of ours. */
  identify(authorization: string | undefined): Caller | 'nobody' | 'wrong';
  /** What became of a token since: `gone` is its whole daemon, `changed` the token alone. */
  checkKey(key: DaemonKey): 'good' | 'changed' | 'gone';
}

/**
 * The tokens are compared by their hashes and each with all, so that the time taken tells nothing of them (persona daemon,
 * contract 2).
 */
export function createCallers(ownToken: string, keys: DaemonKeys): Callers {
  const own = hashToken(ownToken);
  return {
    identify(authorization) {
      if (authorization === undefined) return 'nobody';
      const givenDigest = hashToken(parseBearer(authorization) ?? '');
      let caller: Caller | 'wrong' = timingSafeEqual(givenDigest, own) ? { is: 'owner' } : 'wrong';
      for (const key of keys.all()) if (timingSafeEqual(givenDigest, key.digest)) caller = { is: 'keyed', key };
      return caller;
    },
    checkKey({ tenant, identity, address, scope, digest }) {
      const daemonKeys = keys.all().filter((key) => key.tenant === tenant && key.identity === identity);
      if (daemonKeys.length === 0) return 'gone';
      const same = daemonKeys.find((key) => key.scope === scope && key.address === address);
      return same !== undefined && timingSafeEqual(same.digest, digest) ? 'good' : 'changed';
    },
  };
}

/** What tokens are compared by. */
export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
