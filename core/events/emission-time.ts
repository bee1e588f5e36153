import { formatIso } from '../model/index.ts';
import type { ClockReading } from '../ports/index.ts';

/**
 * When a sink took an event, by every clock that the machine has (Kijito contract b). A clock it does not have is absent, never
 * faked.
 */
export interface EmissionTime {
  /** In the format of `ts`. */
  readonly wall: string;
  /** Seconds with six decimals. This clock stands still while the machine sleeps. */
  readonly monotonic?: number;
  /** Seconds with six decimals. This clock runs on while the machine sleeps. */
  readonly boottime?: number;
  /** The platform's names of the clocks that were read; clocks that are absent here are not named. */
  readonly src: { readonly monotonic?: string; readonly boottime?: string };
  /** A reading of `boottime` that was behind `monotonic`, which is impossible. It stands here instead of in `boottime`. */
  readonly clock_defect?: { readonly boottime: number; readonly src: string };
}

export function toEmissionTime({ wall, monotonic, boottime }: ClockReading): EmissionTime {
  const isDefect = monotonic !== null && boottime !== null && boottime.seconds < monotonic.seconds;
  const sound = isDefect ? null : boottime;
  return {
    wall: formatIso(wall),
    ...(monotonic !== null && { monotonic: monotonic.seconds }),
    ...(sound !== null && { boottime: sound.seconds }),
    src: {
      ...(monotonic !== null && { monotonic: monotonic.src }),
      ...(sound !== null && { boottime: sound.src }),
    },
    ...(isDefect && { clock_defect: { boottime: boottime.seconds, src: boottime.src } }),
  };
}
