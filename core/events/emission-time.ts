import { formatIso } from '../model/index.ts';
import type { ClockReading } from '../ports/index.ts';

/** When an event was taken, by every clock the machine has (Kijito contract b). A clock it does not have is absent, never faked. */
export interface EmissionTime {
  /** As `ts`. */
  readonly wall: string;
  /** Seconds with six decimals; stands still while the machine sleeps. */
  readonly monotonic?: number;
  /** Seconds with six decimals; goes on while the machine sleeps. */
  readonly boottime?: number;
  /** The platform's names of the clocks that were read: for those that are here, and no others. */
  readonly src: { readonly monotonic?: string; readonly boottime?: string };
  /** A reading of `boottime` that was behind `monotonic`, which cannot be: it is here instead of above. */
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
