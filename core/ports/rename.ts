/** What waiting is made of. */
export interface WaitCalls {
  /** Milliseconds that never go backwards. */
  monotonic(): number;
  /** Holds this thread up. */
  pause(ms: number): void;
}

/** What a patient rename is made of. */
export interface RenameCalls extends WaitCalls {
  rename(from: string, to: string): void;
}

/** How long a rename is repeated. */
export const RENAME_WITHIN_MS = 2000;
/** A reader is done within a moment; a virus scanner takes longer. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const BUSY: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);

/**
 * Windows refuses to rename onto a file that somebody has open. Who reads a file of Hivebar is done in a moment, so the rename is
 * repeated for two seconds. Elsewhere these codes mean what they say, and the first one is thrown.
 *
 * @throws what the last rename threw
 */
export function renamePatiently(calls: RenameCalls, isWindows: boolean, from: string, to: string): void {
  repeatWhileBusy(calls, isWindows, () => calls.rename(from, to));
}

/** The same for a call that ends with a rename. @throws what its last run threw */
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

/** A patient rename where nothing may be held up. */
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
