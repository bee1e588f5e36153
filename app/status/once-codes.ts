import { createHash } from 'node:crypto';
import type { Clock, Random } from '../../core/ports/index.ts';

/** What a code that was handed in is good for. `again`: it was good, and was used before. */
export type RedeemResult = 'good' | 'again' | 'bad';

/**
 * Codes that are good for the token once and for a minute. They stand behind the `#` of a link, which no browser sends
 * anywhere: so a link opens the page, and the page gets the token without it ever being part of an address.
 *
 * A code has 256 bits, so wrong ones are not counted: a limit would protect nothing, and would let anybody who may ask
 * keep the owner out.
 */
export interface OnceCodes {
  make(): string;
  /** Whether `redeem` would take it; uses nothing up. */
  isGood(code: string): boolean;
  redeem(code: string): RedeemResult;
}

const CODE_BYTES = 32;
const GOOD_FOR_MS = 60_000;
/** More are not open at once: the oldest gives way. */
const MOST_OPEN = 100;

export function createOnceCodes({ clock, random }: { readonly clock: Clock; readonly random: Random }): OnceCodes {
  /** By digest, in order of age, so that how long a look-up takes says nothing of a code. */
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
