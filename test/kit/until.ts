import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 10;
/** Long, for machines that are busy with other tests; what is waited for comes much sooner. */
const WITHIN_MS = 60_000;

/** Waits until `happened`. @throws after `withinMs`, naming `what` was waited for */
export async function until(
  goal: string | (() => string),
  happened: () => boolean | Promise<boolean>,
  withinMs: number = WITHIN_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await happened())) {
    if (performance.now() > end) {
      throw new Error(`not within ${withinMs} ms: ${typeof goal === 'string' ? goal : goal()}`);
    }
    await sleep(EVERY_MS);
  }
}
