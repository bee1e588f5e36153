import { setTimeout as sleep } from 'node:timers/promises';

/** Long, for machines that are busy with other tests; what is waited for comes much sooner. */
const WITHIN_MS = 60_000;

/**
 * How long to wait before the next look, in milliseconds: a twentieth of the time so far, at most `mostMs`. Each look takes
 * from what is waited for, and from the tests beside it.
 */
export const measurePause = (waitedMs: number, mostMs: number): number => Math.min(mostMs, Math.max(10, waitedMs / 20));

/** Waits until `happened`. @throws after `withinMs`, naming `what` was waited for */
export async function until(
  goal: string | (() => string),
  happened: () => boolean | Promise<boolean>,
  withinMs: number = WITHIN_MS,
): Promise<void> {
  const start = performance.now();
  while (!(await happened())) {
    const waited = performance.now() - start;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${typeof goal === 'string' ? goal : goal()}`);
    await sleep(measurePause(waited, 50));
  }
}
