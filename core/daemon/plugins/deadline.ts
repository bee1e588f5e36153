import type { Clock } from '../../ports/index.ts';

/**
 * Waits for the work at most `ms` milliseconds. The work itself is not stopped. @throws Error `too late` when the time is over
 */
export async function runWithin<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  using stack = new DisposableStack();
  const late = new Promise<never>((_resolve, reject) => {
    stack.use(clock.after(ms, () => reject(new Error('too late'))));
  });
  return await Promise.race([work, late]);
}
