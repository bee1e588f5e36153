/** The calls that a wait needs. */
export interface WaitCalls {
  /** Milliseconds that never go backwards. */
  monotonic(): number;
  /** Blocks this thread. */
  pause(ms: number): void;
}

/** The calls that a patient rename needs. */
export interface RenameCalls extends WaitCalls {
  rename(from: string, to: string): void;
}

/** How long a rename is repeated, in milliseconds. */
export const RENAME_WITHIN_MS = 2000;
/** The first pause is short, because a reader is done quickly. A virus scanner takes longer. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const BUSY: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);

/**
 * Renames a file, and on Windows repeats that for two seconds. Windows refuses to rename onto a file that somebody has
 * open, and readers of Hivebar's files are done quickly. On other systems these codes are real failures, and the first
 * is thrown.
 *
 * @throws what the last rename threw
 */
export function renamePatiently(calls: RenameCalls, isWindows: boolean, from: string, to: string): void {
  repeatWhileBusy(calls, isWindows, () => calls.rename(from, to));
}

/**
 * Repeats a call that ends with a rename in the same way.
 * @throws what its last run threw
 */
export function repeatWhileBusy(calls: WaitCalls, isWindows: boolean, run: () => void): void {
  const until = calls.monotonic() + RENAME_WITHIN_MS;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    try {
      run();
      return;
    } catch (error) {
      const left = until - calls.monotonic();
      if (!isWindows || !isBusy(error) || left <= 0) throw error;
      calls.pause(Math.min(ms, left));
    }
  }
}

/** Renames patiently without blocking the thread. */
export async function renamePatientlyAsync(
  calls: {
    rename(from: string, to: string): Promise<void>;
    monotonic(): number;
    sleep(ms: number): Promise<void>;
  },
  isWindows: boolean,
  from: string,
  to: string,
): Promise<void> {
  const until = calls.monotonic() + RENAME_WITHIN_MS;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    try {
      await calls.rename(from, to);
      return;
    } catch (error) {
      const left = until - calls.monotonic();
      if (!isWindows || !isBusy(error) || left <= 0) throw error;
      await calls.sleep(Math.min(ms, left));
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BUSY.has(error.code);
}
