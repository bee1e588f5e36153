import type { Instant } from '../model/index.ts';

/** What one clock said. */
export interface Tick {
  /** Since some moment of its own, with microseconds. */
  readonly seconds: number;
  /** The platform's name of the clock that was really read, e.g. `CLOCK_BOOTTIME`. */
  readonly src: string;
}

/** All clocks of the machine, read one right after the other. Null: this machine has no such clock, or it cannot be asked. */
export interface ClockReading {
  readonly wall: Instant;
  /** Stands still while the machine sleeps. */
  readonly monotonic: Tick | null;
  /** Goes on while the machine sleeps, and is read last: so it is never behind `monotonic` on a machine whose clocks are sound. */
  readonly boottime: Tick | null;
}

/** The clocks by what they mean, for a time that others compare (Kijito contract b). To time something use `Clock`. */
export interface Clocks {
  read(): ClockReading;
}
