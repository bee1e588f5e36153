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
