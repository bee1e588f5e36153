import type { Fact } from '../../core/board/index.ts';
import type { Log } from '../../core/ports/index.ts';
import type { InterruptionDetector, Scheduler } from '../../core/watch/index.ts';

export interface CatchUpOptions {
  readonly interruptions: InterruptionDetector;
  readonly watchers: readonly Pick<Scheduler, 'renew'>[];
  readonly put: (fact: Fact) => void;
  readonly log: Log;
}

/**
 * After the machine slept, the process was stopped or the clock was set: says so, then drops every connection and polls
 * everything (desktop contract, section 8). Until it is disposed.
 */
export function catchUpAfterInterruptions({ interruptions, watchers, put, log }: CatchUpOptions): Disposable {
  return interruptions.onInterruption(({ at, ms, until }) => {
    const seconds = Math.round(ms / 1000);
    log.info(`nobody watched for ${seconds} s (a sleep, a stop, or a clock that was set): everything is polled now`);
    put({ is: 'gap', at, ms, until }); // first: what is told from now on came meanwhile
    for (const watcher of watchers) watcher.renew();
  });
}
