/** How a daemon ended. `unknown` means that it was not our child. */
export type DaemonExit =
  | { readonly is: 'code'; readonly code: number }
  | { readonly is: 'signal'; readonly signal: string }
  | { readonly is: 'not-started'; readonly why: string }
  | { readonly is: 'unknown' };

/** What to do then. `rest` means to wait until somebody changes the installed configuration. */
export type RestartDecision =
  | { readonly is: 'rest' }
  | { readonly is: 'again'; readonly ms: number; readonly failures: number };

const LADDER_MS = [1000, 2000, 4000, 8000, 16_000, 30_000] as const;
const HIGHEST_MS = 30_000;
const JITTER = 0.2;
/** A daemon that ran this long starts again with the shortest wait. */
const SOUND_AFTER_MS = 60_000;

/**
 * Exit codes after which a restart would end the same way: it was told to end, or its configuration is wrong (persona daemon,
 * contract 5).
 */
const FINAL: readonly number[] = [0, 78];

/**
 * Decides whether and when to start a daemon again.
 * @param aliveMs how long it ran
 * @param failures the number of failures in a row before this one
 * @param draw a random number in [0, 1), for the jitter
 */
export function decideRestart(exit: DaemonExit, aliveMs: number, failures: number, draw: number): RestartDecision {
  if (exit.is === 'code' && FINAL.includes(exit.code)) return { is: 'rest' };
  const before = aliveMs >= SOUND_AFTER_MS ? 0 : failures;
  const ms = (LADDER_MS[before] ?? HIGHEST_MS) * (1 - JITTER + 2 * JITTER * draw);
  return { is: 'again', ms: Math.round(ms), failures: before + 1 };
}
