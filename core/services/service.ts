/** Background work of a program: it has a name, and it is started and stopped by a supervisor. */
export interface Service {
  /** What the log and the board call it, in plain words: `gate cleanup`, `store copy`. */
  readonly name: string;
  /**
   * Works until `signal` aborts, and has let go of everything it holds when it resolves. One that resolves earlier has nothing left to
   * do. @throws anything: the supervisor says so and runs it again
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
