import { isatty } from 'node:tty';
import type { Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import type { Log } from '../../core/ports/index.ts';

/** Returns a signal that aborts when the process is asked to stop. The process then no longer stops on its own. */
export function createStopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Returns the operating system that this process runs on. */
export function getHostOs(): NodeJS.Platform {
  return process.platform;
}

/** Whether stdout is a terminal, on which a live table can be redrawn in place. */
export const isTerminal = (): boolean => isatty(1);

/** Whether a person types on stdin, who would have to end it. */
export const isTypedInput = (): boolean => process.stdin.isTTY === true;

/** Returns the rows and columns of the terminal now; null when it does not tell. */
export function getTerminalSize(): { readonly rows: number; readonly columns: number } | null {
  const { rows, columns } = process.stdout;
  return rows > 0 && columns > 0 ? { rows, columns } : null;
}

/** Ends this process with `code` if something still keeps it alive after `ms`. */
export function exitBy(ms: number, code: number): void {
  setTimeout(() => process.exit(code), ms).unref();
}

/**
 * Calls `report` with the first uncaught error. The process ends with `code` when the report is done, or after `ms`. Later
 * errors are ignored.
 */
export function onCrash(report: (error: unknown) => Promise<void>, ms: number, code: number): void {
  let isOver = false;
  process.on('uncaughtException', (error) => {
    if (isOver) return;
    isOver = true;
    const exit = (): void => process.exit(code);
    setTimeout(exit, ms);
    report(error).then(exit, exit);
  });
}

/** After the report nobody waits for what still hangs, such as a name look-up, which cannot be interrupted, or a socket. */
const LEAVE_MS = 200;

/** Ends the process a moment later, unless it has ended before, with the exit code that is set by then. */
export function leaveSoon(): void {
  setTimeout(() => process.exit(), LEAVE_MS).unref();
}

/**
 * Creates a log that writes lines to stderr, each after `name` and a colon. Lines hold names that hives chose, so terminal
 * controls in them are made harmless.
 */
export function createStderrLog(io: Io, name: string): Log {
  const say = (line: string): void => io.err(`${name}: ${displayName(line)}\n`);
  return { info: say, warn: say, error: say };
}
