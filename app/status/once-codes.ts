import { createHash } from 'node:crypto';
import type { Clock, Random } from '../../core/ports/index.ts';

/** The verdict on a code. `again` means that it was valid and was used before. */
export type RedeemResult = 'good' | 'again' | 'bad';

/**
 * Codes that can be exchanged for the token once, within a minute. They are behind the `#` of a link, and no browser sends that
 * part anywhere. So a link opens the page, and the page gets the token without the token being part of an address.
 *
 * A code has 256 bits, so wrong codes are not counted: a limit would protect nothing, and would let anybody lock the owner out.
 */
export interface OnceCodes {
  make(): string;
  /** Returns whether `redeem` would accept the code, without using it up. */
  isGood(code: string): boolean;
  redeem(code: string): RedeemResult;
}

const CODE_BYTES = 32;
const GOOD_FOR_MS = 60_000;
/** The most codes that are open at once. The oldest is dropped for a new one. */
const MOST_OPEN = 100;

export function createOnceCodes({ clock, random }: { readonly clock: Clock; readonly random: Random }): OnceCodes {
  /** Sorted by age, with digests as keys, so that the time of a look-up reveals nothing about a code. */
  const codes = new Map<string, { readonly until: number; used: boolean }>();

  const forget = (): void => {
    for (const [digest, { until }] of codes) {
      if (until > clock.monotonic() && codes.size <= MOST_OPEN) return;
      codes.delete(digest);
    }
  };

  return {
    make() {
      const code = random.hex(CODE_BYTES);
      codes.set(hashCode(code), { until: clock.monotonic() + GOOD_FOR_MS, used: false });
      forget();
      return code;
    },
    isGood(code) {
      forget();
      return codes.get(hashCode(code))?.used === false;
    },
    redeem(code) {
      forget();
      const known = codes.get(hashCode(code));
      if (known === undefined) return 'bad';
      if (known.used) return 'again';
      known.used = true;
      return 'good';
    },
  };
}

function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('base64');
}
