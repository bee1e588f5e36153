import { createStamper, type Event, isMail } from '../events/index.ts';
import { toFault } from '../model/index.ts';
import type { Clocks } from '../ports/index.ts';
import type { Disk } from '../state/index.ts';
import { createRotatingFile } from './rotating-file.ts';
import { EMPTY_TAIL, type Sink, type Tail } from './sink.ts';

export interface FileSinkOptions {
  readonly disk: Disk;
  readonly clocks: Clocks;
  /** The absolute path. */
  readonly path: string;
  /** `--max-bytes`; 0 or less disables rotation. */
  readonly maxBytes: number;
  /** `--keep-logs`, at least 1. */
  readonly keep: number;
}

// A kill between the sink and the checkpoint leaves at most one batch unmarked. This size holds thousands of events.
const TAIL_BYTES = 1024 * 1024;

/**
 * Writes events as lines of a file that this process owns and rotates (Kijito spec 14.3, contract e). The first event
 * creates the file. `take` returns when the lines are on the disk. If the file is refused, `take` fails and the next
 * call tries again. Several watchers may share one sink (`--events-file`): it writes one batch at a time.
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
        // `take` fails for a refused file and reports why. Until then the content of the file is unknown.
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
