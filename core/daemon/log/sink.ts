import type { LogRecord } from './record.ts';

/** The last step of a sink: takes records away, one call at a time. */
export interface LogOutlet {
  readonly name: string;
  /** The most records of one call. */
  readonly most: number;
  /** Calls `done` once, later or at once; with an error when none of them counts as written. Never throws. */
  write(records: readonly LogRecord[], done: (error: Error | null) => void): void;
  /** Lets go of what it holds. */
  close(): Promise<void>;
}

/** Where records go. Takes them at once, throws nothing, and waits for nobody. */
export interface LogSink extends AsyncDisposable {
  put(record: LogRecord): void;
}

/** So many records wait at the most; a sink that hangs costs no more memory than this. */
const MOST_WAITING = 500;
/** A sink that hangs does not hold up the end of the process. */
export const FLUSHED_WITHIN_MS = 500;

/** What could not be written, for somebody else to write. */
export interface UnwrittenRecords {
  readonly why: Error;
  readonly records: readonly LogRecord[];
}

export interface RecordQueue {
  put(record: LogRecord): void;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
  /** Records that were thrown away because too many waited. */
  readonly dropped: number;
}

/** Records on their way into an outlet, in their order. After `failed` it takes no more. */
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
