import type { ErrorClass, Fsm } from '../link/index.ts';
import { formatIso } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { LogEvent, LogLevel, LogOwner, LogRecord } from './log-record.ts';

interface DaemonLogNeeds {
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
type RecordContent = Pick<LogRecord, 'level' | 'event' | 'msg' | 'error_class'>;

export function createRecord(owner: LogOwner, clock: Pick<Clock, 'now'>, fsm: Fsm, content: RecordContent): LogRecord {
  return { ...owner, ts: formatIso(clock.now()), fsm, ...content };
}

/** A log sentence is short; a longer text came from somebody else. */
const MOST_CHARS = 300;
const HIDDEN = '[...]';

/**
 * Makes a sentence safe for a log (persona daemon, contract 8). The result is one line, cut, without possible secrets. Text
 * between quotes is removed too, because programs quote the text that they could not read. `secrets` are those this process
 * holds.
 */
export function scrubText(text: string, secrets: readonly string[] = []): string {
  let plain = text;
  for (const secret of secrets) if (secret !== '') plain = plain.replaceAll(secret, HIDDEN);
  return plain
    .replace(/\S*\bnot valid JSON\b.*|.*\bin JSON at position\b.*/s, 'not valid JSON')
    .replace(/["'`“”‘’][\s\S]*["'`“”‘’]/u, HIDDEN) // from the first quote to the last: a text may contain quotes
    .replace(/["'`“”‘’][\s\S]*$/u, HIDDEN) // a quote that is never closed, as in a text that was cut
    .replace(/\b(bearer|basic)\s+\S+/gi, `$1 ${HIDDEN}`)
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi, '$1')
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/[^\s?#]*)[?#]\S*/gi, '$1')
    .replace(/\b(token|password|secret|authorization|api[_-]?key)(\s*[=:]\s*)\S+/gi, `$1$2${HIDDEN}`)
    .replace(/\b[0-9a-f]{24,}\b|\b[A-Za-z0-9_-]{40,}\b/gi, HIDDEN)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .slice(0, MOST_CHARS)
    .trim();
}

/** Formats an error for the log: its name, code and message, scrubbed. */
export function formatScrubbedError(error: unknown, secrets: readonly string[] = []): string {
  if (!(error instanceof Error)) return 'a value that is not an Error was thrown';
  if (error instanceof SyntaxError) return 'SyntaxError: the input is malformed';
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return scrubText(`${error.name}: ${code}${error.message}`, secrets);
}

/** After a failure the system's own log is tried again at this interval. */
const AGAIN_MS = 5 * 60_000;

/** @throws Error if the outlet cannot be opened */
type OpenOutlet = () => LogOutlet;

interface SinkNeeds {
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
const FLUSHED_WITHIN_MS = 500;

/** Records that could not be written, for another outlet. */
interface UnwrittenRecords {
  readonly why: Error;
  readonly records: readonly LogRecord[];
}

interface RecordQueue {
  put(record: LogRecord): void;
  /** Resolves when no record waits any more. */
  idle(): Promise<void>;
  /** How many records were dropped because too many waited. */
  readonly dropped: number;
}

/** Creates the queue of records for an outlet, in order. After it calls `failed` it takes no more records. */
function createQueue(outlet: LogOutlet, failed: (unwritten: UnwrittenRecords) => void): RecordQueue {
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
