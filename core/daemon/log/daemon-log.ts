import type { ErrorClass, Fsm } from '../../link/index.ts';
import { formatIso } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { LogEvent, LogLevel, LogOwner, LogRecord } from './record.ts';
import { formatScrubbedError, scrubText } from './scrub.ts';
import type { LogSink } from './sink.ts';

export interface DaemonLogNeeds {
  readonly owner: LogOwner;
  readonly sink: LogSink;
  readonly clock: Clock;
  /** The state of the stream at this moment. */
  readonly fsm: () => Fsm;
  /** What must never be written: the tokens this process holds. */
  readonly secrets: () => readonly string[];
}

/** What a daemon says of itself. Nothing of it throws. */
export interface DaemonLog extends AsyncDisposable {
  tell(level: LogLevel, event: LogEvent, msg: string): void;
  /** A failure, by its class; the words of the error stand here and nowhere else. */
  failed(error_class: ErrorClass, error: unknown): void;
  /** For rooms that know a plain log. What they name beside the line is left out. */
  readonly plain: Log;
}

/** The records of one daemon, into one sink (persona daemon, contract 8). */
export function createDaemonLog({ owner, sink, clock, fsm, secrets }: DaemonLogNeeds): DaemonLog {
  const put = (level: LogLevel, event: LogEvent, msg: string, error_class?: ErrorClass): void =>
    sink.put(
      createRecord(owner, clock, fsm(), {
        level,
        event,
        msg: scrubText(msg, secrets()),
        ...(error_class && { error_class }),
      }),
    );
  return {
    tell: put,
    failed: (error_class, error) => put('error', 'error', formatScrubbedError(error, secrets()), error_class),
    plain: {
      info: (line) => put('info', 'note', line),
      warn: (line) => put('warn', 'note', line),
      error: (line) => put('error', 'note', line),
    },
    [Symbol.asyncDispose]: () => Promise.resolve(sink[Symbol.asyncDispose]()),
  };
}

/** What a record says beside whose it is and when. */
export type RecordContent = Pick<LogRecord, 'level' | 'event' | 'msg' | 'error_class'>;

export function createRecord(owner: LogOwner, clock: Pick<Clock, 'now'>, fsm: Fsm, content: RecordContent): LogRecord {
  return { ...owner, ts: formatIso(clock.now()), fsm, ...content };
}
