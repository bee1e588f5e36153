import type { Fact } from '../../core/board/index.ts';
import type { Log } from '../../core/ports/index.ts';
import type { InterruptionDetector, Scheduler } from '../../core/watcher/index.ts';

export interface CatchUpOptions {
  readonly interruptions: InterruptionDetector;
  readonly watchers: readonly Pick<Scheduler, 'renew'>[];
  readonly put: (fact: Fact) => void;
  readonly log: Log;
}

/**
 * Runs after the machine slept, the process was stopped or the clock was set. Puts the interruption on the board, then drops
 * every connection and polls everything (desktop contract, section 8). Works until it is disposed.
 */
export function catchUpAfterInterruptions({ interruptions, watchers, put, log }: CatchUpOptions): Disposable {
  return interruptions.onInterruption(({ at, ms, until }) => {
    const seconds = Math.round(ms / 1000);
    log.info(`nobody watched for ${seconds} s (a sleep, a stop, or a clock that was set): everything is polled now`);
    put({ is: 'gap', at, ms, until }); // comes first: whatever is reported after this fact came during the interruption
    for (const watcher of watchers) watcher.renew();
  });
}
