import type { Clock, Clocks, Log, Random, Spawn } from '../../core/ports/index.ts';
import type { Disk } from '../../core/state/index.ts';

/** Everything that a process uses of the outside world. Tests replace it. */
export interface Machine {
  /** Called when the start is over, or when nothing has happened for a while: memory that is not needed can be given back. */
  atRest(): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly os: NodeJS.Platform;
  readonly arch: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly clocks: Clocks;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly log: Log;
  /** Aborts on SIGTERM, SIGINT and SIGHUP. */
  readonly stop: AbortSignal;
  /** Calls the listener on each SIGUSR1. If one came before anybody listened, the listener is called at once. */
  onPoke(listener: () => void): Disposable;
}
