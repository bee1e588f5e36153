import type { Clock } from '../../ports/index.ts';
import type { LogRecord } from './record.ts';
import {
  createQueue,
  FLUSHED_WITHIN_MS,
  type LogOutlet,
  type LogSink,
  type RecordQueue,
  type UnwrittenRecords,
} from './sink.ts';

/** After a failure the system's own log is tried again at this interval. */
const AGAIN_MS = 5 * 60_000;

/** @throws Error if the outlet cannot be opened */
export type OpenOutlet = () => LogOutlet;

export interface SinkNeeds {
  readonly first: OpenOutlet;
  /** Where records go while the first outlet takes none. */
  readonly fallback: OpenOutlet;
  readonly clock: Clock;
  /**
   * Creates a record that says which outlet failed and why. It goes into the fallback before the records that were not written.
   */
  readonly notice: (name: string, why: Error) => LogRecord;
}

interface ActiveOutlet {
  readonly outlet: LogOutlet;
  readonly queue: RecordQueue;
}

/** Creates a sink that falls back to another outlet and never fails. If the fallback also takes nothing, records are lost. */
export function createSink({ first, fallback, clock, notice }: SinkNeeds): LogSink {
  let again: Disposable | null = null;
  let isClosed = false;
  let live: ActiveOutlet | null = null;

  /** Opens an outlet, which then receives all new records. */
  function use(open: OpenOutlet, failed: (unwritten: UnwrittenRecords, name: string) => void): void {
    try {
      const outlet = open();
      const queue = createQueue(outlet, (unwritten) => {
        void outlet.close();
        failed(unwritten, outlet.name);
      });
      live = { outlet, queue };
    } catch (error) {
      failed({ why: error instanceof Error ? error : new Error(String(error)), records: [] }, 'log');
    }
  }

  function fallBack({ why, records }: UnwrittenRecords, name: string): void {
    if (!isClosed) again = clock.after(AGAIN_MS, backToFirst);
    use(fallback, () => {
      live = null; // no outlet is left to report this to; the first one is tried again
    });
    live?.queue.put(notice(name, why));
    for (const record of records) live?.queue.put(record);
  }

  function backToFirst(): void {
    const before = live;
    use(first, fallBack);
    void before?.queue.idle().then(() => before.outlet.close());
  }

  use(first, fallBack);
  return {
    put: (record) => live?.queue.put(record),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      again?.[Symbol.dispose]();
      await flushed();
      await flushed(); // the first outlet may have failed meanwhile, and left its records to the fallback
      await live?.outlet.close();
    },
  };

  async function flushed(): Promise<void> {
    const stop = new AbortController();
    await Promise.race([live?.queue.idle(), clock.sleep(FLUSHED_WITHIN_MS, stop.signal)]);
    stop.abort();
  }
}
