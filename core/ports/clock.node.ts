import { createRequire } from 'node:module';
import type { Clock, Clocks, Tick } from './ports.ts';

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

interface ClockId {
  readonly src: string;
  readonly id: number;
}

/**
 * The platform's clock for each meaning. Darwin uses the names of Linux for the opposite meanings: its CLOCK_MONOTONIC
 * also counts sleep, but is set with the wall clock, so the raw clocks are read (trap 66). Windows has no such clocks.
 */
const BY_MEANING: { readonly [os in NodeJS.Platform]?: { readonly monotonic: ClockId; readonly boottime: ClockId } } = {
  linux: { monotonic: { src: 'CLOCK_MONOTONIC', id: 1 }, boottime: { src: 'CLOCK_BOOTTIME', id: 7 } },
  darwin: { monotonic: { src: 'CLOCK_UPTIME_RAW', id: 8 }, boottime: { src: 'CLOCK_MONOTONIC_RAW', id: 4 } },
};

/** Returns whole seconds and nanoseconds of a clock; null when the machine does not have it. */
export type GetTime = (id: number) => readonly [seconds: number, nanos: number] | null;

/** The calls that read the clocks. `getTime` returns null while the C library cannot be called. */
export interface ClockCalls {
  now(): number;
  hrtime(): readonly [seconds: number, nanos: number];
  getTime(): GetTime | null;
}

/** Creates the clocks of a platform. Only on Linux is Node's own clock known to be CLOCK_MONOTONIC. */
export function createClocks(os: NodeJS.Platform, { now, hrtime, getTime }: ClockCalls): Clocks {
  const clocks = BY_MEANING[os];
  if (clocks === undefined) return { read: () => ({ wall: now(), monotonic: null, boottime: null }) };
  const { monotonic, boottime } = clocks;
  return {
    read() {
      const get = getTime();
      return {
        wall: now(),
        monotonic: os === 'linux' ? toTick(monotonic, hrtime()) : toTick(monotonic, get?.(monotonic.id) ?? null),
        boottime: toTick(boottime, get?.(boottime.id) ?? null),
      };
    },
  };
}

function toTick({ src }: ClockId, time: readonly [number, number] | null): Tick | null {
  return time === null ? null : { seconds: (time[0] * 1e6 + Math.floor(time[1] / 1000)) / 1e6, src };
}

let getTime: GetTime | null | undefined;

/** Returns clock_gettime(2) where the process can already call C; null where it cannot. */
function findClockGetTime(): GetTime | null {
  const koffi = findLoadedKoffi();
  if (koffi === null) return null;
  if (getTime === undefined) {
    try {
      const timespec = koffi.pointer(koffi.struct({ sec: 'long', nsec: 'long' }));
      const call = koffi.load(null).func('clock_gettime', 'int', ['int', koffi.out(timespec)]);
      getTime = (id) => {
        const time = { sec: 0, nsec: 0 };
        return call(id, time) === 0 ? [time.sec, time.nsec] : null;
      };
    } catch {
      getTime = null; // the C library lacks it: the clocks are left out, as on a platform without them
    }
  }
  return getTime;
}

/**
 * The clocks of this machine. Some need the C library, which is loaded by the lock of a state file or of the tray
 * process. Those clocks exist only after that, because loading the library would make the start too slow.
 */
export const realClocks: Clocks = createClocks(process.platform, {
  now: () => Date.now(),
  hrtime: () => process.hrtime(),
  getTime: findClockGetTime,
});

type Koffi = typeof import('koffi');
let loaded: Koffi | undefined;

/** Loads koffi, which calls functions of the C library. It is loaded at first use, so that other processes do not carry it. */
export function loadKoffi(): Koffi {
  loaded ??= createRequire(import.meta.url)('koffi') as Koffi;
  return loaded;
}

/** Returns koffi if the process has already loaded it, else null. */
export function findLoadedKoffi(): Koffi | null {
  return loaded ?? null;
}
