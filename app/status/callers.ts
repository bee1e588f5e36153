import { createHash, timingSafeEqual } from 'node:crypto';
import { parseBearer } from './token.ts';

/** The hash of a token of an installed daemon. The daemon has an `observe` token, its surfaces have an `act` token. */
export interface DaemonKey {
  readonly scope: 'observe' | 'act';
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  readonly tenant: string;
  readonly identity: string;
  /** The daemon's persona in the local hive. The token is valid for no other persona. */
  readonly address: string;
}

/** Lists the current tokens of all installed daemons. */
export interface DaemonKeys {
  all(): readonly DaemonKey[];
}

/** The caller: the owner of the machine, who may act for any address, or a client with the token of a daemon. */
export type Caller = { readonly is: 'owner' } | { readonly is: 'keyed'; readonly key: DaemonKey };

export interface Callers {
  /**
   * Identifies the caller by `Authorization: Bearer TOKEN`. `nobody` means that there is no header, `wrong` that the token is
   * unknown.
   */
  identify(authorization: string | undefined): Caller | 'nobody' | 'wrong';
  /** Checks a token again: `gone` when its whole daemon was removed, `changed` when only the token is no longer valid. */
  checkKey(key: DaemonKey): 'good' | 'changed' | 'gone';
}

/**
 * Tokens are compared by their hashes, each with all, so that the time taken reveals nothing about them (persona daemon, contract
 * 2).
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

/** Hashes a token. Tokens are compared by these hashes. */
export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
