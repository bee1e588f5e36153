import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is not null. @throws after `ms`, naming what did not come. */
export async function poll<T>(goal: () => string, ask: () => T | null | Promise<T | null>, ms = 60_000): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > end) throw new Error(`after ${ms / 1000} s still no ${goal()}`);
    await sleep(25);
  }
}
