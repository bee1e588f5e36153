import { createStamper, type Event, isMail } from '../events/index.ts';
import { toFault } from '../model/index.ts';
import type { Clocks } from '../ports/index.ts';
import type { Disk } from '../state/index.ts';
import { createRotatingFile } from './rotating-file.ts';
import { EMPTY_TAIL, type Sink, type Tail } from './sink.ts';

export interface FileSinkOptions {
  readonly disk: Disk;
  readonly clocks: Clocks;
  /** Absolute. */
  readonly path: string;
  /** `--max-bytes`; 0 or less disables rotation. */
  readonly maxBytes: number;
  /** `--keep-logs`, at least 1. */
  readonly keep: number;
}

// What a kill between sink and mark can leave unmarked is one batch; this holds thousands of events.
const TAIL_BYTES = 1024 * 1024;

/**
 * Events as lines of an owned, self-rotating file (Kijito spec 14.3, contract e). The file appears with the first event.
 * `take` returns when the lines are on the disk; a refused file fails `take` and is tried again at the next one.
 * One sink may serve several watches (`--events-file`): it writes one batch at a time.
 */
export function createFileSink({ disk, clocks, path, maxBytes, keep }: FileSinkOptions): Sink<unknown> {
  const file = createRotatingFile({ disk, path, maxBytes, keep });
  let tail: Tail | null = null;
  return {
    savesState: false,
    async open() {
      if (tail !== null) return tail;
      file.tighten();
      try {
        const mail = file.tail(TAIL_BYTES).filter(isMail);
        tail = { eventIds: new Set(mail.map((event) => event.event_id)) };
      } catch (error) {
        // A refused file fails its `take` and says why there; until then nothing is known to be in it.
        const fault = toFault(error, { is: 'machine', key: `file:${path}` });
        disk.log.warn(`${fault.message}: events it holds already may be written once more`);
        tail = EMPTY_TAIL;
      }
      return tail;
    },
    async take(events: readonly Event[]) {
      const formatStamped = createStamper(clocks.read());
      return file.append(events.map((event) => `${formatStamped(event)}\n`));
    },
    async [Symbol.asyncDispose]() {
      file[Symbol.dispose]();
    },
  };
}
