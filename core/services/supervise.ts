import { type Fault, toFault } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Service } from './service.ts';

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A service failed, or null: it works again. Called once per cause and once per recovery. */
  readonly report: (service: string, fault: Fault | null) => void;
}

/** Runs services, each for itself: one that fails is run again, and takes no other with it. */
export interface Supervisor extends AsyncDisposable {
  /** Starts a service, in this turn; after the supervisor was disposed, nothing. Disposing the result stops this service alone. */
  add(service: Service): AsyncDisposable;
  /** Stops all services, and resolves when each has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

const FIRST_RESTART_MS = 1000;
const LAST_RESTART_MS = 60_000;
/** A service that ran so long without a failure works again. */
const SOUND_AFTER_MS = 60_000;

/**
 * A supervisor without services. A service that throws is run again after 1 s, then 2 s, 4 s and so on up to a minute; after a minute
 * without a failure it begins with 1 s. The log has one warning per cause: the same message is not repeated before the service worked again.
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
      if (stop.aborted) return; // what it says of its own end helps nobody
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

/** What is no expected failure is logged with its stack. */
function toDetails(error: unknown): Record<string, unknown> | undefined {
  return error instanceof Error && error.name !== 'Fault' ? { error } : undefined;
}
