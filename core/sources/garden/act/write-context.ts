import type { Instant } from '../../../model/index.ts';
import type { Clock, Random } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';

/** What writing into a store needs from the machine. */
export interface WriteContext {
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Formats the local time of this machine, with which a garden id begins: `20260614T100037`. */
  readonly formatLocalStamp: (at: Instant) => string;
}
