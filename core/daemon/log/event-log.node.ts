import { execFile } from 'node:child_process';
import type { loadKoffi } from '../../ports/index.ts';
import { EVENT_LOG_CALLS, toEventCreateArguments, toReportedEvent } from './event-log.ts';
import type { LogOutlet } from './sink.ts';

/**
 * Opens the Event Log of Windows, log Application. It needs no administrator and no registered source. It has not run on Windows
 * yet; the calls are tested against a library with the same functions.
 * @throws Error if the functions are missing, or the log cannot be opened
 */
export function openEventLogOutlet(
  source: string,
  koffi: ReturnType<typeof loadKoffi>,
  library = 'advapi32.dll',
): LogOutlet {
  const lib = koffi.load(library);
  const [register, report, deregister] = [
    EVENT_LOG_CALLS.register,
    EVENT_LOG_CALLS.report,
    EVENT_LOG_CALLS.deregister,
  ].map(([name, result, parameters]) => lib.func(name, result, [...parameters]));
  const handle: unknown = register?.(null, source);
  if (handle === null || handle === undefined) throw new Error('RegisterEventSourceW gave no handle');
  return {
    name: 'event log',
    most: 20,
    write(records, done) {
      try {
        const refused = records.some((record) => report?.(handle, ...toReportedEvent(record)) === 0);
        done(refused ? new Error('ReportEventW took it not') : null);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
    async close() {
      deregister?.(handle);
    },
  };
}

/** Each event needs a process, so events are written at this interval, each with all records since the last one. */
const EVERY_MS = 10_000;
const ENDS_WITHIN_MS = 5000;

/** The fallback if the functions cannot be called: the program `eventcreate` of Windows, which needs an administrator. */
export function createEventCreateOutlet(source: string, file = 'eventcreate.exe', everyMs = EVERY_MS): LogOutlet {
  let waiting: NodeJS.Timeout | null = null;
  let isFirst = true;
  return {
    name: 'eventcreate',
    most: 10,
    write(records, done) {
      const run = (): void => {
        execFile(
          file,
          [...toEventCreateArguments(source, records)],
          { timeout: ENDS_WITHIN_MS, windowsHide: true },
          (error) => done(error === null ? null : new Error(`${file} failed`)),
        );
      };
      if (isFirst) run();
      else waiting = setTimeout(run, everyMs).unref();
      isFirst = false;
    },
    async close() {
      if (waiting !== null) clearTimeout(waiting);
    },
  };
}
