import type { Clock } from './clock.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
