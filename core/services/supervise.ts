import { type Fault, toFault } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Service } from './service.ts';

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called with a fault once per cause when a service fails, and with null once per recovery. */
  readonly report: (service: string, fault: Fault | null) => void;
}

/** Runs services independently. A service that fails is run again and does not affect the others. */
export interface Supervisor extends AsyncDisposable {
  /**
   * Starts a service in this turn. Does nothing after the supervisor was disposed. Disposing the result stops this
   * service alone.
   */
  add(service: Service): AsyncDisposable;
  /** Stops all services, and resolves when each has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

const FIRST_RESTART_MS = 1000;
const LAST_RESTART_MS = 60_000;
/** A service that ran for this many milliseconds without a failure has recovered. */
const SOUND_AFTER_MS = 60_000;

/**
 * Creates a supervisor without services. A service that throws is run again after 1 s, then 2 s, 4 s and so on up to a
 * minute. After a minute without a failure the wait is 1 s again. The log has one warning per cause: the same message
 * is not repeated until the service has recovered.
 */
export function supervise(options: SupervisorOptions): Supervisor {
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    add(service) {
      const stopOne = new AbortController();
      const follow = (): void => stopOne.abort();
      if (stop.signal.aborted) follow();
      stop.signal.addEventListener('abort', follow, { once: true });
      let isBroken = false;
      const report = (fault: Fault | null): void => {
        isBroken = fault !== null;
        options.report(service.name, fault);
      };
      const ended: Promise<void> = runAgainAndAgain(service, options, report, stopOne.signal).finally(() => {
        stop.signal.removeEventListener('abort', follow);
        running.delete(ended);
      });
      running.add(ended);
      return {
        async [Symbol.asyncDispose]() {
          stopOne.abort();
          await ended;
          if (isBroken && !stop.signal.aborted) report(null);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

async function runAgainAndAgain(
  { name, run }: Service,
  { clock, log }: SupervisorOptions,
  report: (fault: Fault | null) => void,
  stop: AbortSignal,
): Promise<void> {
  let restartMs = FIRST_RESTART_MS;
  let cause: string | null = null;
  while (!stop.aborted) {
    const startedAt = clock.monotonic();
    const soundAt = cause === null ? null : clock.after(SOUND_AFTER_MS, reportSound);
    try {
      await run(stop);
      return;
    } catch (error) {
      if (stop.aborted) return; // an error after the stop is of no use to anybody
      if (clock.monotonic() - startedAt >= SOUND_AFTER_MS) restartMs = FIRST_RESTART_MS;
      const fault = toFault(error, { is: 'machine', key: `service:${name}` });
      if (fault.message !== cause) {
        cause = fault.message;
        log.warn(`${name}: ${fault.explain()}: tried again in ${restartMs / 1000} s`, toDetails(error));
        report(fault);
      }
    } finally {
      soundAt?.[Symbol.dispose]();
    }
    await clock.sleep(restartMs, stop);
    restartMs = Math.min(restartMs * 2, LAST_RESTART_MS);
  }

  function reportSound(): void {
    cause = null;
    log.info(`${name}: it works again`);
    report(null);
  }
}

/** Logs an unexpected error with its stack. */
function toDetails(error: unknown): Record<string, unknown> | undefined {
  return error instanceof Error && error.name !== 'Fault' ? { error } : undefined;
}
