import type { Instant } from '../model/index.ts';
import { type HistoryState, UPTIME_HOURS, type Uptime, type UptimeSpan } from './history.ts';

export const HOUR_MS = 3_600_000;
export const LONGEST_HOURS = Math.max(...Object.values(UPTIME_HOURS));

const SPANS = Object.keys(UPTIME_HOURS) as UptimeSpan[];

/** Sums up how long the state was known and how long it was up, over each span that ends at `to`. `changes` are in order of time. */
export function computeUptime(
  changes: readonly { readonly at: Instant; readonly state: HistoryState }[],
  to: Instant,
): Uptime {
  const sums = SPANS.map((span) => {
    const from = to - UPTIME_HOURS[span] * HOUR_MS;
    let [upMs, knownMs] = [0, 0];
    for (const [i, { at, state }] of changes.entries()) {
      const ms = Math.max(0, (changes[i + 1]?.at ?? to) - Math.max(at, from));
      if (state === 'unknown') continue;
      knownMs += ms;
      if (state !== 'down') upMs += ms;
    }
    return [span, { upMs, knownMs }] as const;
  });
  return Object.fromEntries(sums) as Uptime;
}

/** Adds up the uptime of several personas. */
export function addUptimes(uptimes: readonly Uptime[]): Uptime {
  const sums = SPANS.map((span) => {
    const sum = (key: 'upMs' | 'knownMs'): number => uptimes.reduce((total, uptime) => total + uptime[span][key], 0);
    return [span, { upMs: sum('upMs'), knownMs: sum('knownMs') }] as const;
  });
  return Object.fromEntries(sums) as Uptime;
}
