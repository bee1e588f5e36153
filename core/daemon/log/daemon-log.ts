import type { ErrorClass, Fsm } from '../../link/index.ts';
import { isoOf } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Level, LogEvent, LogOwner, LogRecord } from './record.ts';
import { errorText, scrubbed } from './scrub.ts';
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
  tell(level: Level, event: LogEvent, msg: string): void;
  /** A failure, by its class; the words of the error stand here and nowhere else. */
  failed(error_class: ErrorClass, error: unknown): void;
  /** For rooms that know a plain log. What they name beside the line is left out. */
  readonly plain: Log;
}

/** The records of one daemon, into one sink (persona daemon, contract 8). */
export function daemonLog({ owner, sink, clock, fsm, secrets }: DaemonLogNeeds): DaemonLog {
  const put = (level: Level, event: LogEvent, msg: string, error_class?: ErrorClass): void =>
    sink.put(
      recordOf(owner, clock, fsm(), {
        level,
        event,
        msg: scrubbed(msg, secrets()),
        ...(error_class && { error_class }),
      }),
    );
  return {
    tell: put,
    failed: (error_class, error) => put('error', 'error', errorText(error, secrets()), error_class),
    plain: {
      info: (line) => put('info', 'note', line),
      warn: (line) => put('warn', 'note', line),
      error: (line) => put('error', 'note', line),
    },
    [Symbol.asyncDispose]: () => Promise.resolve(sink[Symbol.asyncDispose]()),
  };
}

/** What a record says beside whose it is and when. */
export type Said = Pick<LogRecord, 'level' | 'event' | 'msg' | 'error_class'>;

export function recordOf(owner: LogOwner, clock: Pick<Clock, 'now'>, fsm: Fsm, said: Said): LogRecord {
  return { ...owner, ts: isoOf(clock.now()), fsm, ...said };
}
