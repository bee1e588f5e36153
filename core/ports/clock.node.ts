import type { Clock } from './ports.ts';

/** The longest delay of a Node timer. Node fires a longer one at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  // `performance` is not used, because loading it would take 1 ms of the start of a hook.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      if (ms <= 0) return void setImmediate(resolve);
      const done = (): void => {
        timer[Symbol.dispose]();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = startTimer(ms, done);
      signal.addEventListener('abort', done, { once: true });
    }),
  after: (ms, run) => startTimer(ms, run, (timer) => timer.unref()),
};

/**
 * Works like `setTimeout` for any time span, with one timer after the other, each no longer than Node allows. It keeps
 * the process alive, unless `onTimer` changes that for each timer.
 */
export function startTimer(
  ms: number,
  run: () => void,
  onTimer: (timer: NodeJS.Timeout) => void = () => {},
): Disposable {
  let left = ms;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    const part = Math.min(left, LONGEST_MS);
    left -= part;
    timer = setTimeout(left > 0 ? next : run, part);
    onTimer(timer);
  };
  next();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
