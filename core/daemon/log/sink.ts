import type { LogRecord } from './record.ts';

/** The last step of a sink: writes records, one call at a time. */
export interface LogOutlet {
  readonly name: string;
  /** The most records per call. */
  readonly most: number;
  /** Calls `done` once, later or at once; with an error if none of the records counts as written. Never throws. */
  write(records: readonly LogRecord[], done: (error: Error | null) => void): void;
  /** Releases what the outlet holds. */
  close(): Promise<void>;
}

/** Where records go. `put` returns at once and never throws. */
export interface LogSink extends AsyncDisposable {
  put(record: LogRecord): void;
}

/** At most this many records wait, so a sink that hangs costs no more memory. */
const MOST_WAITING = 500;
/** How long the end of the process waits for a sink that hangs. */
export const FLUSHED_WITHIN_MS = 500;

/** Records that could not be written, for another outlet. */
export interface UnwrittenRecords {
  readonly why: Error;
  readonly records: readonly LogRecord[];
}

export interface RecordQueue {
  put(record: LogRecord): void;
  /** Resolves when no record waits any more. */
  idle(): Promise<void>;
  /** How many records were dropped because too many waited. */
  readonly dropped: number;
}

/** Creates the queue of records for an outlet, in order. After it calls `failed` it takes no more records. */
export function createQueue(outlet: LogOutlet, failed: (unwritten: UnwrittenRecords) => void): RecordQueue {
  let waiting: LogRecord[] = [];
  let flying: readonly LogRecord[] = [];
  let dropped = 0;
  let isOver = false;
  const idlers: (() => void)[] = [];

  const wakeIdlers = (): void => {
    for (const resolveIdle of idlers.splice(0)) resolveIdle();
  };

  function next(): void {
    if (isOver || flying.length > 0) return;
    if (waiting.length === 0) {
      wakeIdlers();
      return;
    }
    flying = waiting.slice(0, outlet.most);
    waiting = waiting.slice(outlet.most);
    outlet.write(flying, (error) => {
      if (isOver) return;
      const sent = flying;
      flying = [];
      if (error === null) {
        next();
        return;
      }
      isOver = true;
      wakeIdlers();
      failed({ why: error, records: [...sent, ...waiting] });
      waiting = [];
    });
  }

  return {
    put(record) {
      if (isOver) return;
      if (waiting.length >= MOST_WAITING) {
        dropped += 1;
        return;
      }
      waiting.push(record);
      next();
    },
    idle: () =>
      new Promise((resolve) => {
        if (isOver || (waiting.length === 0 && flying.length === 0)) resolve();
        else idlers.push(resolve);
      }),
    get dropped() {
      return dropped;
    },
  };
}
