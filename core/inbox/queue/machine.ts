import type { Clock, Random } from '../../ports/index.ts';
import type { Disk, LockWay } from '../../state/index.ts';

/** What the queue needs of the machine. */
export interface QueueMachine {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** How to lock; left out: as the platform does. */
  readonly ways?: readonly LockWay[];
}
