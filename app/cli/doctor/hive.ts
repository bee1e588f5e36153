import { FAULTS, type FaultCode } from '../../../core/model/index.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** One address of a hive's host, and whether a connection comes about. */
export interface Dialed {
  readonly address: string;
  readonly is: 'connects' | 'refuses' | 'silent' | 'failed';
}

export interface HiveSeen {
  /** Its address as a person may see it. */
  readonly address: string;
  /** Where it lies: loopback, private, public ... */
  readonly lies: string;
  readonly isLocalhost: boolean;
  readonly dialed: readonly Dialed[];
  readonly asked:
    | {
        readonly is: 'hive';
        readonly personas: number;
        readonly unread: number | null;
        readonly ms: number;
        /** Entries of its lists that cannot be read, a line per list. */
        readonly defects: readonly string[];
      }
    | { readonly is: 'fault'; readonly code: FaultCode; readonly message: string };
  /** The hive's clock minus ours, in milliseconds; null when it does not say. */
  readonly skewMs: number | null;
  readonly token: { readonly is: 'none' } | { readonly is: 'given'; readonly flaws: readonly string[] };
}

/** Beyond it "new since" and "old" begin to mislead people. */
const MOST_SKEW_MS = 60_000;
const REACHING: readonly FaultCode[] = ['refused', 'timeout', 'broken'];

export function judgeHive(seen: HiveSeen): Finding {
  const { address, lies, dialed, asked, skewMs, token } = seen;
  const families = dialed.map((one) => `${one.address} ${one.is}`).join(', ');
  if (asked.is === 'fault') {
    const { code, message } = asked;
    const where = REACHING.includes(code) && families !== '' ? ` (${families})` : '';
    return fail(`${address}: ${message}${where}`, nextOf(seen, code));
  }
  if (token.is === 'given' && token.flaws.length > 0)
    return warn(`${address} answers; ${token.flaws[0]}`, 'run: chmod 600 FILE, as its owner');
  if (skewMs !== null && Math.abs(skewMs) > MOST_SKEW_MS) {
    const seconds = Math.round(Math.abs(skewMs) / 1000);
    return warn(
      `${address} answers; its clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} ours`,
      'set the clock that is wrong: timedatectl set-ntp true',
    );
  }
  if (asked.defects.length > 0)
    return warn(
      `${address} answers; ${asked.defects.join('; ')}`,
      'mend that entry at the hive; the others are watched',
    );
  // A hive that listens in one family only is reached all the same; said, since other programs may not try both.
  const one = dialed.some(({ is }) => is !== 'connects') && dialed.length > 1 ? `, ${families}` : '';
  const { personas, unread, ms } = asked;
  return ok(`${address} (${lies}${one}): ${personas} personas, ${unread ?? 'unknown'} unread, answered in ${ms} ms`);
}

function nextOf({ isLocalhost, dialed, token }: HiveSeen, code: FaultCode): string {
  if (code === 'refused' && isLocalhost && dialed.every(({ is }) => is === 'refuses'))
    return 'start the hive: nothing listens there, neither at 127.0.0.1 nor at ::1';
  if (code === 'unauthorized')
    return token.is === 'none'
      ? 'give its token: hivebar config set tokenFile FILE'
      : 'the token is not accepted: get a valid one from the hive';
  return FAULTS[code].next;
}
