import type { Clock } from '../../ports/index.ts';

/**
 * Waits for a promise, at most for a time, and until a signal aborts. It leaves no timer and no listener behind, so it may run a thousand
 * times per second.
 * @param ms null for no limit
 * @returns whether the promise resolved first
 * @throws what the promise rejects with
 */
export function waitFor(
  promise: Promise<unknown>,
  ms: number | null,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const stop = (): void => finish(() => resolve(false));
    const timer = ms === null ? null : clock.after(ms, stop);
    const finish = (end: () => void): void => {
      timer?.[Symbol.dispose]();
      signal.removeEventListener('abort', stop);
      end();
    };
    signal.addEventListener('abort', stop, { once: true });
    promise.then(
      () => finish(() => resolve(true)),
      (error: unknown) => finish(() => reject(error)),
    );
    if (signal.aborted) stop();
  });
}
