import { type Fault, faultOf } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Service } from './service.ts';

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A service failed, or null: it runs soundly again. Said once per cause and once per recovery. */
  readonly report: (service: string, fault: Fault | null) => void;
}

/** Runs services, each for itself: one that fails is run again, and takes no other with it. */
export interface Supervisor extends AsyncDisposable {
  /** Starts a service, in this turn. After the supervisor was disposed nothing is started. */
  add(service: Service): void;
  /** Stops all services, and resolves when each has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

const FIRST_RESTART_MS = 1000;
const LAST_RESTART_MS = 60_000;
/** A service that ran so long without a failure is sound again. */
const SOUND_AFTER_MS = 60_000;

/**
 * A supervisor without services. One that throws is run again after 1 s, then 2 s, 4 s and so on up to a minute; one that ran a minute
 * since begins with 1 s. The log has one warning per cause: the same message again is not repeated before the service was sound.
 */
export function supervise({ clock, log, report }: SupervisorOptions): Supervisor {
  const stop = new AbortController();
  const running = new Set<Promise<void>>();

  async function runAgainAndAgain({ name, run }: Service): Promise<void> {
    let restartMs = FIRST_RESTART_MS;
    let cause: string | null = null;
    while (!stop.signal.aborted) {
      const startedAt = clock.monotonic();
      const soundAt = cause === null ? null : clock.after(SOUND_AFTER_MS, reportSound);
      try {
        await run(stop.signal);
        return;
      } catch (error) {
        if (stop.signal.aborted) return; // what it says of its own end helps nobody
        if (clock.monotonic() - startedAt >= SOUND_AFTER_MS) restartMs = FIRST_RESTART_MS;
        const fault = faultOf(error, { is: 'machine', key: `service:${name}` });
        if (fault.message !== cause) {
          cause = fault.message;
          log.warn(`${name}: ${fault.explain()}: tried again in ${restartMs / 1000} s`, toDetails(error));
          report(name, fault);
        }
      } finally {
        soundAt?.[Symbol.dispose]();
      }
      await clock.sleep(restartMs, stop.signal);
      restartMs = Math.min(restartMs * 2, LAST_RESTART_MS);
    }

    function reportSound(): void {
      cause = null;
      log.info(`${name}: it works again`);
      report(name, null);
    }
  }

  return {
    add(service) {
      const ended: Promise<void> = runAgainAndAgain(service).finally(() => running.delete(ended));
      running.add(ended);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** What is no expected failure is logged with its stack. */
function toDetails(error: unknown): Record<string, unknown> | undefined {
  return error instanceof Error && error.name !== 'Fault' ? { error } : undefined;
}
