import { type Fault, toFault } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';

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
        log.warn(`${name}: ${fault.explain()}; retrying in ${restartMs / 1000} s`, toDetails(error));
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

/** A background task with a name. A supervisor starts and stops it. */
export interface Service {
  /** The name in the log and on the board, in plain words: `gate cleanup`, `store copy`. */
  readonly name: string;
  /**
   * Works until `signal` aborts, and has released everything when it resolves. If it resolves earlier, it has nothing
   * left to do.
   * @throws anything: the supervisor reports the error and runs the service again
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Resolves as soon as `signal` aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A service that repeats its round. */
export interface PeriodicService extends Service {
  /** Ends the current wait, so that the next round begins as soon as the running one is over. */
  wake(): void;
}

export interface PeriodicOptions {
  readonly name: string;
  /** Milliseconds from the end of a round to the next one. A function is called after each round. */
  readonly ms: number | (() => number);
  /** Milliseconds to the first round. 0, the default, runs it at once, in the turn in which the service is started. */
  readonly firstMs?: number;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** The reason of an abort that ends a wait. Without one Node makes an error with its stack each time. */
const WOKEN = 'woken';

/**
 * Creates a service that runs `round`, and again `ms` after each end. A round that throws ends the service; its
 * supervisor restarts it.
 */
export function every({ name, ms, firstMs = 0, round, clock }: PeriodicOptions): PeriodicService {
  let wait = new AbortController();
  return {
    name,
    wake: () => wait.abort(WOKEN),
    async run(signal) {
      if (signal.aborted) return;
      const stop = (): void => wait.abort(WOKEN);
      signal.addEventListener('abort', stop, { once: true });
      try {
        if (firstMs > 0) await clock.sleep(firstMs, wait.signal);
        while (!signal.aborted) {
          wait = new AbortController();
          await round(signal);
          await clock.sleep(typeof ms === 'number' ? ms : ms(), wait.signal);
        }
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

export interface WhileNeededOptions {
  readonly name: string;
  /** Milliseconds to the first round, and from the end of each to the next. */
  readonly ms: number;
  readonly isNeeded: () => boolean;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Creates a service that repeats its round while it is needed. As long as it is not needed it sets no timer, and a wake
 * makes it look again. A round that throws ends the service; its supervisor restarts it.
 */
export function whileNeeded({ name, ms, isNeeded, round, clock }: WhileNeededOptions): PeriodicService {
  let woken = Promise.withResolvers<void>();
  return {
    name,
    wake: () => woken.resolve(),
    async run(signal) {
      signal.addEventListener('abort', () => woken.resolve(), { once: true });
      while (!signal.aborted) {
        woken = Promise.withResolvers();
        if (!isNeeded()) {
          await woken.promise;
          continue;
        }
        await clock.sleep(ms, signal);
        if (!signal.aborted) await round(signal);
      }
    },
  };
}

/** Resolves when `isDone` returns true, which is looked at now and every `ms` milliseconds, or when `signal` aborts. */
export async function waitUntil(
  isDone: () => boolean,
  ms: number,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && !isDone()) await clock.sleep(ms, signal);
}

export interface OnDemandOptions {
  readonly name: string;
  /** Milliseconds from the first wake to its round. Further wakes in that time belong to the same round. */
  readonly gatherMs: number;
  readonly round: (signal: AbortSignal) => void | Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Creates a service that runs `round` after a wake, and once after each start. A wake during a round leads to one more
 * round. A round that throws ends the service; its supervisor restarts it.
 */
export function onDemand({ name, gatherMs, round, clock }: OnDemandOptions): PeriodicService {
  let woken = Promise.withResolvers<void>();
  return {
    name,
    wake: () => woken.resolve(),
    async run(signal) {
      signal.addEventListener('abort', () => woken.resolve(), { once: true });
      woken.resolve();
      while (!signal.aborted) {
        await woken.promise;
        await clock.sleep(gatherMs, signal);
        if (signal.aborted) return;
        woken = Promise.withResolvers();
        await round(signal);
      }
    },
  };
}

/** Logs a lasting problem once when it begins or changes, and once when it is over (Kijito contract j, traps 9 and 45). */
export interface TroubleLog {
  /** Logs `line` unless the last problem had the same `cause`. Pass `cause` when the line differs each time. */
  raise(line: string, cause?: string): void;
  /** Logs `line` if there was a problem. */
  clear(line: string): void;
}

export function createTroubleLog(log: Log): TroubleLog {
  let lastCause: string | null = null;
  return {
    raise(line, cause = line) {
      if (cause !== lastCause) log.warn(line);
      lastCause = cause;
    },
    clear(line) {
      if (lastCause !== null) log.info(line);
      lastCause = null;
    },
  };
}
