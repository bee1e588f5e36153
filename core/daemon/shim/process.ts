/** What a shim process reports. */
export interface ShimListener {
  /** A line of its stdout; null: the line was too long, and the rest of its output is ignored. */
  line(line: string | null): void;
  /** The process ended, or could not be started. Called once. */
  ended(): void;
}

/** The process of a shim, alone in its process group. */
export interface ShimProcess {
  /** Null: the process could not be started, and `ended` follows. */
  readonly pid: number | null;
  /** Writes to its stdin; does nothing if the shim is gone. */
  write(line: string): void;
  /** Asks the shim to end; if it does not end soon, kills it and whatever it started. Resolves when it is gone. */
  end(): Promise<void>;
}

export type StartShim = (listener: ShimListener) => ShimProcess;
