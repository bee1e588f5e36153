import type { Clocks, Tick } from './clocks.ts';
import { findLoadedKoffi } from './koffi.node.ts';

interface ClockId {
  readonly src: string;
  readonly id: number;
}

/**
 * Which clock has which meaning. The names of Darwin say the opposite of those of Linux: its CLOCK_MONOTONIC counts the sleep
 * too but is set with the wall clock, so the raw ones are read (trap 66). Windows has no clock of this call.
 */
const BY_MEANING: { readonly [os in NodeJS.Platform]?: { readonly monotonic: ClockId; readonly boottime: ClockId } } = {
  linux: { monotonic: { src: 'CLOCK_MONOTONIC', id: 1 }, boottime: { src: 'CLOCK_BOOTTIME', id: 7 } },
  darwin: { monotonic: { src: 'CLOCK_UPTIME_RAW', id: 8 }, boottime: { src: 'CLOCK_MONOTONIC_RAW', id: 4 } },
};

/** Whole seconds and nanoseconds of a clock, null when the machine does not have it. */
export type GetTime = (id: number) => readonly [seconds: number, nanos: number] | null;

/** What the clocks are read with. `getTime` answers null while there is no way to the call. */
export interface ClockCalls {
  now(): number;
  hrtime(): readonly [seconds: number, nanos: number];
  getTime(): GetTime | null;
}

/** The clocks of a platform. Node's own clock is known to be CLOCK_MONOTONIC on Linux only. */
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

/** clock_gettime(2) where the process can call C already; null where it cannot (any more). */
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
      getTime = null; // a C library without it: the clocks are left out, as on a platform that has none
    }
  }
  return getTime;
}

/**
 * The clocks of this machine. Those that need a call into the C library are there only once another part of the process needed
 * it (the lock of a state file or of the tray process): loading it costs more than a start may.
 */
export const realClocks: Clocks = createClocks(process.platform, {
  now: () => Date.now(),
  hrtime: () => process.hrtime(),
  getTime: findClockGetTime,
});
