import type { Clock } from '../../ports/index.ts';

/** @throws Error `too late`, when the work takes longer; what becomes of it then is not waited for. */
export async function runWithin<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  using stack = new DisposableStack();
  const late = new Promise<never>((_resolve, reject) => {
    stack.use(clock.after(ms, () => reject(new Error('too late'))));
  });
  return await Promise.race([work, late]);
}
