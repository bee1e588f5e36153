import type { Clock, Random } from '../../ports/index.ts';
import type { Disk, LockWay } from '../../state/index.ts';

/** What the queue needs from the machine. */
export interface QueueMachine {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** How to lock; default: the way of the platform. */
  readonly ways?: readonly LockWay[];
}
