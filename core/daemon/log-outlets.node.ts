import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { close, constants, existsSync, fstat, fstatSync, open, write } from 'node:fs';
import type { Fsm } from '../link/index.ts';
import { type Clock, findProgram, loadKoffi, renameAsync } from '../ports/index.ts';
import {
  createDaemonLog,
  createRecord,
  createSink,
  type DaemonLog,
  formatScrubbedError,
  type LogOutlet,
  type LogSink,
} from './daemon-log.ts';
import {
  chooseSinkKind,
  EVENT_LOG_CALLS,
  formatPrefixedLine,
  formatRecordLine,
  type LogOwner,
  type LogRecord,
  type LogSurroundings,
  parseJournalStream,
  type SinkKind,
  toEventCreateArguments,
  toReportedEvent,
} from './log-record.ts';

/** Records per write; few enough that a descriptor takes them in one piece. */
const AT_ONCE = 50;

/**
 * Creates an outlet to the journal through a descriptor that the journal gave us. Writes run in a thread, so that a journal that
 * hangs blocks no timer.
 */
export function createJournalOutlet(fd: number): LogOutlet {
  return {
    name: 'journal',
    most: AT_ONCE,
    write: (records, done) => writeAll(fd, Buffer.from(records.map(formatPrefixedLine).join('')), done),
    close: () => Promise.resolve(), // the descriptor belongs to the process
  };
}

function writeAll(fd: number, bytes: Buffer, done: (error: Error | null) => void): void {
  write(fd, bytes, (error, wrote) => {
    if (error !== null) return done(error);
    if (wrote === 0) return done(new Error('the descriptor accepts no more data'));
    if (wrote === bytes.length) return done(null);
    writeAll(fd, bytes.subarray(wrote), done);
  });
}

/** How long the program may take to end after the end of its input. */
const ENDS_WITHIN_MS = 500;

/**
 * Creates an outlet to a program that runs as long as this process and reads one line per record. If the program ends, the outlet
 * fails.
 */
export function createProgramOutlet(file: string, args: readonly string[], prefixed: boolean): LogOutlet {
  const child: ChildProcess = spawn(file, [...args], {
    // A process group of its own: a signal that ends the daemon must not cut off its last records.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  let ended: Error | null = null;
  let flying: ((error: Error | null) => void) | null = null;
  const exited = new Promise<void>((resolve) => {
    const over = (why: string): void => {
      ended ??= new Error(why);
      flying?.(ended);
      flying = null;
      resolve();
    };
    child.on('error', ({ message }) => over(message));
    child.on('exit', (code, signal) => over(`${file} ended with ${code ?? signal}`));
  });
  child.stdin?.on('error', () => {}); // the exit of the program says why
  child.unref();
  return {
    name: file,
    most: AT_ONCE,
    write(records: readonly LogRecord[], done) {
      if (ended !== null) return done(ended);
      flying = done;
      const text = records.map(prefixed ? formatPrefixedLine : formatRecordLine).join('');
      child.stdin?.write(text, (error) => {
        const callback = flying;
        flying = null;
        callback?.(error ?? null);
      });
    },
    async close() {
      child.ref();
      child.stdin?.end();
      const late = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
      await exited;
      clearTimeout(late);
    },
  };
}

const MOST_BYTES = 5 * 1024 * 1024;
const PRIVATE = 0o600;

type WriteCallback = (error: Error | null) => void;

/**
 * Creates an outlet to a file of at most 5 MB and its predecessor `PATH.1`. Both have mode 0600, and links are not followed. The
 * file is opened for each write: records are few here, and a deleted file is created again.
 */
export function createFileOutlet(path: string, mostBytes: number = MOST_BYTES): LogOutlet {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

  function append(fd: number, bytes: Buffer, done: WriteCallback): void {
    write(fd, bytes, (error, wrote) => {
      if (error !== null) return done(error);
      if (wrote < bytes.length) return append(fd, bytes.subarray(wrote), done);
      fstat(fd, (failed, stat) => {
        if (failed !== null || stat.size < mostBytes) return done(null);
        const ended = (): void => done(null); // also if the rename failed: the file then grows, and the next write tries again
        renameAsync(path, `${path}.1`).then(ended, ended);
      });
    });
  }

  return {
    name: path,
    most: 200,
    write(records: readonly LogRecord[], done) {
      open(path, flags, PRIVATE, (error, fd) => {
        if (error !== null) return done(error);
        const bytes = Buffer.from(records.map(formatRecordLine).join(''));
        append(fd, bytes, (failed) => close(fd, () => done(failed)));
      });
    },
    close: () => Promise.resolve(),
  };
}

/**
 * Opens the Event Log of Windows, log Application. It needs no administrator and no registered source. It has not run on Windows
 * yet; the calls are tested against a library with the same functions.
 * @throws Error if the functions are missing, or the log cannot be opened
 */
export function openEventLogOutlet(
  source: string,
  koffi: ReturnType<typeof loadKoffi>,
  library = 'advapi32.dll',
): LogOutlet {
  const lib = koffi.load(library);
  const [register, report, deregister] = [
    EVENT_LOG_CALLS.register,
    EVENT_LOG_CALLS.report,
    EVENT_LOG_CALLS.deregister,
  ].map(([name, result, parameters]) => lib.func(name, result, [...parameters]));
  const handle: unknown = register?.(null, source);
  if (handle === null || handle === undefined) throw new Error('RegisterEventSourceW returned no handle');
  return {
    name: 'event log',
    most: 20,
    write(records, done) {
      try {
        const refused = records.some((record) => report?.(handle, ...toReportedEvent(record)) === 0);
        done(refused ? new Error('ReportEventW failed') : null);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
    async close() {
      deregister?.(handle);
    },
  };
}

/** Each event needs a process, so events are written at this interval, each with all records since the last one. */
const EVERY_MS = 10_000;
const EVENT_SENT_WITHIN_MS = 5000;

/** The fallback if the functions cannot be called: the program `eventcreate` of Windows, which needs an administrator. */
export function createEventCreateOutlet(source: string, file = 'eventcreate.exe', everyMs = EVERY_MS): LogOutlet {
  let waiting: NodeJS.Timeout | null = null;
  let isFirst = true;
  return {
    name: 'eventcreate',
    most: 10,
    write(records, done) {
      const run = (): void => {
        execFile(
          file,
          [...toEventCreateArguments(source, records)],
          { timeout: EVENT_SENT_WITHIN_MS, windowsHide: true },
          (error) => done(error === null ? null : new Error(`${file} failed`)),
        );
      };
      if (isFirst) run();
      else waiting = setTimeout(run, everyMs).unref();
      isFirst = false;
    },
    async close() {
      if (waiting !== null) clearTimeout(waiting);
    },
  };
}

interface OpenLogNeeds {
  readonly owner: Omit<LogOwner, 'pid'>;
  /** The name of the daemon's unit: the identifier, tag or source under which the system shows the records. */
  readonly label: string;
  /** The file to use if the system has no log, or its log takes no records. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fsm: () => Fsm;
  readonly secrets: () => readonly string[];
}

/** Opens the log of this daemon: the system's own, else a file. It loads only what the chosen sink needs. */
export function openDaemonLog({ owner, label, file, env, clock, fsm, secrets }: OpenLogNeeds): DaemonLog {
  const own: LogOwner = { ...owner, pid: process.pid };
  const sink: LogSink = createSink({
    first: () => createOutlet(chooseSinkKind(readLogSurroundings(env), label), label, file),
    fallback: () => createFileOutlet(file),
    clock,
    notice: (name, why) =>
      createRecord(own, clock, fsm(), {
        level: 'warn',
        event: 'log_sink',
        msg: `${name} failed: ${formatScrubbedError(why, secrets())}`,
      }),
  });
  return createDaemonLog({ owner: own, sink, clock, fsm, secrets });
}

function createOutlet(kind: SinkKind, label: string, file: string): LogOutlet {
  switch (kind.is) {
    case 'journal':
      return createJournalOutlet(kind.fd);
    case 'program':
      return createProgramOutlet(kind.file, kind.args, kind.prefixed);
    case 'event-log':
      try {
        return openEventLogOutlet(label, loadKoffi());
      } catch {
        return createEventCreateOutlet(label); // this outlet reports by itself if it does not work
      }
    case 'file':
      return createFileOutlet(file);
  }
}

/** Reads which log facilities this machine has, as far as its platform needs to know. */
export function readLogSurroundings(env: OpenLogNeeds['env']): LogSurroundings {
  const { platform } = process;
  const isLinux = platform !== 'win32' && platform !== 'darwin';
  return {
    platform,
    journalFd: findJournalFd(env.JOURNAL_STREAM),
    systemdCat: isLinux ? findProgram('systemd-cat', env, platform) : null,
    logger: platform === 'win32' ? null : findProgram('logger', env, platform),
    hasJournal: isLinux && existsSync('/run/systemd/journal/stdout'),
    hasSyslog: isLinux && existsSync('/dev/log'),
  };
}

/** Finds whether our stderr or stdout is the journal. The variable alone does not tell, because child processes inherit it. */
function findJournalFd(text: string | undefined): number | null {
  const stream = parseJournalStream(text);
  if (stream === null) return null;
  for (const fd of [2, 1]) {
    try {
      const { dev, ino } = fstatSync(fd, { bigint: true });
      if (dev === stream.dev && ino === stream.ino) return fd;
    } catch {
      // this descriptor is closed
    }
  }
  return null;
}
