import { createHash } from 'node:crypto';
import type { Clock, Random } from '../../core/ports/index.ts';

/** What a code that was handed in is good for. `again`: it was good, and was used before. */
export type Redeemed =
  | { readonly is: 'good' }
  | { readonly is: 'again' }
  | { readonly is: 'bad' }
  | { readonly is: 'limited'; readonly seconds: number };

/**
 * Codes that are good for the token once and for a minute. They stand behind the `#` of a link, which no browser sends
 * anywhere: so a link opens the page, and the page gets the token without it ever being part of an address.
 */
export interface OnceCodes {
  make(): string;
  redeem(code: string): Redeemed;
}

const GOOD_FOR_MS = 60_000;
/** More are not open at once: the oldest gives way. */
const MOST_OPEN = 100;
/** So many wrong codes may be tried at once, and then one more each `GUESS_EVERY_MS`. */
const GUESSES = 10;
const GUESS_EVERY_MS = 6000;

export function createOnce({ clock, random }: { readonly clock: Clock; readonly random: Random }): OnceCodes {
  /** By digest, in order of age, so that how long a look-up takes says nothing of a code. */
  const codes = new Map<string, { readonly until: number; used: boolean }>();
  let guesses = GUESSES;
  let countedAt = clock.monotonic();

  const forget = (): void => {
    for (const [digest, { until }] of codes) {
      if (until > clock.monotonic() && codes.size <= MOST_OPEN) return;
      codes.delete(digest);
    }
  };

  return {
    make() {
      const code = random.hex(32);
      codes.set(digestOf(code), { until: clock.monotonic() + GOOD_FOR_MS, used: false });
      forget();
      return code;
    },
    redeem(code) {
      forget();
      const now = clock.monotonic();
      const back = Math.floor((now - countedAt) / GUESS_EVERY_MS);
      guesses = Math.min(GUESSES, guesses + back);
      countedAt = guesses === GUESSES ? now : countedAt + back * GUESS_EVERY_MS;
      // also a good one waits then, or the limit would be none; it stays good
      if (guesses <= 0) return { is: 'limited', seconds: Math.ceil((countedAt + GUESS_EVERY_MS - now) / 1000) };
      const known = codes.get(digestOf(code));
      if (known !== undefined && !known.used) {
        known.used = true;
        return { is: 'good' };
      }
      guesses -= 1;
      return known === undefined ? { is: 'bad' } : { is: 'again' };
    },
  };
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('base64');
}
