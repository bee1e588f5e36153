/** What a shim does without being asked. */
export interface ShimListener {
  /** A line of its stdout; null: it wrote one that is too long, and is not heard any more. */
  line(line: string | null): void;
  /** It ended, or could not be started. Told once. */
  ended(): void;
}

/** A shim as a process, alone in its group. */
export interface ShimProcess {
  /** Null: it could not be started, and `ended` follows. */
  readonly pid: number | null;
  /** Into its stdin; a shim that is gone gets nothing. */
  write(line: string): void;
  /** Asks it to end, and ends it and whatever it started when it does not soon. Resolves when it is gone. */
  end(): Promise<void>;
}

export type StartShim = (listener: ShimListener) => ShimProcess;
