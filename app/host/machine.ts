import type { Clock, Clocks, Log, Random, Spawn } from '../../core/ports/index.ts';
import type { Disk } from '../../core/state/index.ts';

/** Everything of the outside world that a process of ours uses, so that what is composed from it can be tested. */
export interface Machine {
  /** Told when the start is over, or nothing has happened for a while: room that is not needed can be given back. */
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
  /** Calls on SIGUSR1. Pokes that came before anybody listened are not lost: the listener is called at once. */
  onPoke(listener: () => void): Disposable;
}
