const WINDOW_MS = 600_000;
const DEATHS_MOST = 5;
const FIRST_MS = 1000;
const MOST_MS = 60_000;

export type HelperRestart = { readonly is: 'again'; readonly inMs: number } | { readonly is: 'stop' };

/**
 * Decides whether and when to start a helper again. `deaths` are the times of its deaths, including the last one (monotonic ms).
 */
export function decideRestart(deaths: readonly number[]): HelperRestart {
  const now = deaths.at(-1) ?? 0;
  const recent = deaths.filter((at) => now - at < WINDOW_MS).length;
  if (recent >= DEATHS_MOST) return { is: 'stop' };
  return { is: 'again', inMs: Math.min(MOST_MS, FIRST_MS * 2 ** (recent - 1)) };
}
