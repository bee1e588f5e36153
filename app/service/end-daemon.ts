import { askDaemon, type DaemonPlaces } from '../../core/link/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { DaemonHandle } from './daemon-holder.node.ts';

/** How the daemon ended. `stayed` means that it did not end. */
export type DaemonEnd = 'was-gone' | 'asked' | 'terminated' | 'killed' | 'stayed';

/** The time that a daemon has for each step (persona daemon, contract 5). */
export const PATIENCE = { askedMs: 5000, terminatedMs: 2000, killedMs: 2000 } as const;

/** A little less than its time, so that a daemon that needs all of it still ends by itself. */
const DEADLINE_MS = 4500;
const CHECK_EVERY_MS = 20;
const ASK_AGAIN_MS = 100;

/**
 * Ends a daemon: asks it, terminates it, kills it. Each step comes when the one before did not work in time.
 * @param reason what the daemon says to its upstream: `wrap`, `archive`, `destroy` or another reason
 */
export async function endDaemon(
  places: Pick<DaemonPlaces, 'socket' | 'token'>,
  reason: string,
  daemon: DaemonHandle,
  clock: Clock,
): Promise<DaemonEnd> {
  if (daemon.isGone()) return 'was-gone';
  const over = new AbortController();
  const asking = ask(places, reason, clock, over.signal);
  try {
    if (await isGoneWithin(PATIENCE.askedMs, daemon, clock)) return 'asked';
  } finally {
    over.abort();
    await asking;
  }
  daemon.signal('SIGTERM');
  if (await isGoneWithin(PATIENCE.terminatedMs, daemon, clock)) return 'terminated';
  daemon.signal('SIGKILL');
  return (await isGoneWithin(PATIENCE.killedMs, daemon, clock)) ? 'killed' : 'stayed';
}

/** Asks again while the daemon is just starting, and so has no socket yet. */
async function ask(
  places: Pick<DaemonPlaces, 'socket' | 'token'>,
  reason: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const request = { verb: 'shutdown', reason, deadlineMs: DEADLINE_MS } as const;
  while (!signal.aborted) {
    const { is } = await askDaemon(places, request, { timeoutMs: PATIENCE.askedMs, signal });
    if (is === 'answered') return;
    await clock.sleep(ASK_AGAIN_MS, signal);
  }
}

async function isGoneWithin(ms: number, daemon: DaemonHandle, clock: Clock): Promise<boolean> {
  const never = new AbortController().signal;
  for (const until = clock.monotonic() + ms; ; await clock.sleep(CHECK_EVERY_MS, never)) {
    if (daemon.isGone()) return true;
    if (clock.monotonic() >= until) return false;
  }
}
