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
  /** Texts that must never be logged: the tokens this process holds. */
  readonly secrets: () => readonly string[];
}

/** The log of a daemon. No method throws. */
export interface DaemonLog extends AsyncDisposable {
  tell(level: LogLevel, event: LogEvent, msg: string): void;
  /** Logs a failure with its class. The text of the error goes to the log and nowhere else. */
  failed(error_class: ErrorClass, error: unknown): void;
  /** For rooms that expect a plain log. Their extra fields are left out. */
  readonly plain: Log;
}

/** Creates the log of one daemon, which writes into one sink (persona daemon, contract 8). */
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

/** The fields of a record besides its owner, time and state. */
export type RecordContent = Pick<LogRecord, 'level' | 'event' | 'msg' | 'error_class'>;

export function createRecord(owner: LogOwner, clock: Pick<Clock, 'now'>, fsm: Fsm, content: RecordContent): LogRecord {
  return { ...owner, ts: formatIso(clock.now()), fsm, ...content };
}
