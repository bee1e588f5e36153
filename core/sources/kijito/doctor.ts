import { FAULTS, type FaultCode } from '../../model/index.ts';
import { type Finding, fail, ok, warn } from '../module.ts';

/** One address of a hive's host, and whether a connection succeeds. */
export interface DialResult {
  readonly address: string;
  readonly is: 'connects' | 'refuses' | 'silent' | 'failed';
}

export interface HiveProbe {
  /** The address as a person may see it. */
  readonly address: string;
  /** Where the address is: loopback, private, public ... */
  readonly lies: string;
  readonly isLocalhost: boolean;
  readonly dialed: readonly DialResult[];
  readonly asked:
    | {
        readonly is: 'hive';
        readonly personas: number;
        readonly unread: number | null;
        readonly ms: number;
        /** Entries of its lists that cannot be read, one line per list. */
        readonly defects: readonly string[];
      }
    | { readonly is: 'fault'; readonly code: FaultCode; readonly message: string };
  /** The hive's clock minus ours, in milliseconds; null when the hive does not send a date. */
  readonly skewMs: number | null;
  readonly token: { readonly is: 'none' } | { readonly is: 'given'; readonly flaws: readonly string[] };
}

/** Beyond this difference "new since" and "old" mislead people. */
const MOST_SKEW_MS = 60_000;
const REACHING: readonly FaultCode[] = ['refused', 'timeout', 'broken'];

export function judgeHive(result: HiveProbe): Finding {
  const { address, lies, dialed, asked: response, skewMs, token } = result;
  const families = dialed.map((entry) => `${entry.address} ${entry.is}`).join(', ');
  if (response.is === 'fault') {
    const { code, message } = response;
    const where = REACHING.includes(code) && families !== '' ? ` (${families})` : '';
    return fail(`${address}: ${message}${where}`, chooseNextStep(result, code));
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
  if (response.defects.length > 0)
    return warn(
      `${address} answers; ${response.defects.join('; ')}`,
      'correct that entry at the hive; the others are watched',
    );
  // A hive that listens in one address family is still reached. The finding says it, because other programs may not try both.
  const note = dialed.some(({ is }) => is !== 'connects') && dialed.length > 1 ? `, ${families}` : '';
  const { personas, unread, ms } = response;
  return ok(`${address} (${lies}${note}): ${personas} personas, ${unread ?? 'unknown'} unread, answered in ${ms} ms`);
}

function chooseNextStep({ isLocalhost, dialed, token }: HiveProbe, code: FaultCode): string {
  if (code === 'refused' && isLocalhost && dialed.every(({ is }) => is === 'refuses'))
    return 'start the hive: nothing listens there, neither at 127.0.0.1 nor at ::1';
  if (code === 'unauthorized')
    return token.is === 'none'
      ? 'give its token: hivebar config set tokenFile FILE'
      : 'the token is not accepted: get a valid one from the hive';
  return FAULTS[code].next;
}
