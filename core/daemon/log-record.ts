import type { ErrorClass, Fsm } from '../link/index.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a record is about, so that a reader can filter without reading the sentence. */
const LOG_EVENTS = [
  'started',
  'stopping',
  'stopped',
  'transition',
  'doorbell',
  'stream',
  'reconcile',
  'shim',
  'surface',
  'control',
  'metrics',
  'error',
  'log_sink',
  'note',
] as const;
export type LogEvent = (typeof LOG_EVENTS)[number];

/** The daemon that a record belongs to, with the same names as the labels of the metrics. */
export interface LogOwner {
  readonly tenant_id: string;
  readonly agent_identity: string;
  readonly agent_surface: string;
  readonly machine_id: string;
  readonly pid: number;
  readonly version: string;
}

/** One record, for every kind of sink (persona daemon, contract 8). It never contains content, a token or a sender. */
export interface LogRecord extends LogOwner {
  /** ISO 8601, UTC. */
  readonly ts: string;
  readonly level: LogLevel;
  readonly event: LogEvent;
  /** The message, on one line. */
  readonly msg: string;
  readonly fsm: Fsm;
  readonly error_class?: ErrorClass;
}

const PRIORITY: Readonly<Record<LogLevel, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

/** The number of a level in syslog and the journal. */
function toSyslogPriority(level: LogLevel): number {
  return PRIORITY[level];
}

/** Formats a record as one line of JSON, with its keys in the order of the contract. */
export function formatRecordLine(record: LogRecord): string {
  const {
    ts,
    level,
    event,
    msg,
    tenant_id,
    agent_identity,
    agent_surface,
    machine_id,
    fsm,
    error_class,
    pid,
    version,
  } = record;
  const labels = { tenant_id, agent_identity, agent_surface, machine_id, fsm };
  const why = error_class === undefined ? {} : { error_class };
  return `${JSON.stringify({ ts, level, event, msg, ...labels, ...why, pid, version })}\n`;
}

/** Formats a record for readers of a priority prefix: the journal behind a descriptor, and `logger --prio-prefix`. */
export function formatPrefixedLine(record: LogRecord): string {
  return `<${toSyslogPriority(record.level)}>${formatRecordLine(record)}`;
}

/** From winnt.h: EVENTLOG_ERROR_TYPE, EVENTLOG_WARNING_TYPE, EVENTLOG_INFORMATION_TYPE. */
const TYPE: Readonly<Record<LogLevel, number>> = { error: 1, warn: 2, info: 4, debug: 4 };
/** The same id for all events. No message file is registered, so the viewer shows the text after a preface of its own. */
const EVENT_ID = 1;

/** The arguments of `ReportEventW` after the handle, in order (persona daemon, contract 8). */
type ReportedEvent = readonly [
  type: number,
  category: number,
  id: number,
  sid: null,
  stringCount: number,
  dataSize: number,
  strings: readonly string[],
  data: null,
];

export function toReportedEvent(record: LogRecord): ReportedEvent {
  return [TYPE[record.level], 0, EVENT_ID, null, 1, 0, [formatRecordLine(record).trimEnd()], null];
}

/** The declarations of the three functions of advapi32.dll for koffi: name, result, parameters. */
export const EVENT_LOG_CALLS = {
  register: ['RegisterEventSourceW', 'void *', ['str16', 'str16']],
  report: [
    'ReportEventW',
    'int',
    ['void *', 'uint16', 'uint16', 'uint32', 'void *', 'uint16', 'uint32', 'str16 *', 'void *'],
  ],
  deregister: ['DeregisterEventSource', 'int', ['void *']],
} as const;

const NAME: Readonly<Record<LogLevel, string>> = {
  error: 'ERROR',
  warn: 'WARNING',
  info: 'INFORMATION',
  debug: 'INFORMATION',
};
const WORST: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];
/** A command line of Windows has 8,191 characters, and quotes are doubled in it. */
const MOST_TEXT = 3500;

/** The arguments of `eventcreate` for some records. All records go into one event, because each event needs a process. */
export function toEventCreateArguments(source: string, records: readonly LogRecord[]): readonly string[] {
  const level = WORST.find((candidate) => records.some((record) => record.level === candidate)) ?? 'info';
  const text = records.map(formatRecordLine).join('').slice(0, MOST_TEXT).trimEnd();
  return ['/L', 'APPLICATION', '/SO', source, '/T', NAME[level], '/ID', String(EVENT_ID), '/D', text];
}

/** The log facilities of this machine. */
export interface LogSurroundings {
  readonly platform: NodeJS.Platform;
  /** Our descriptor that is connected to the journal; null: none is. */
  readonly journalFd: number | null;
  /** Absolute paths of the programs; null: not found. */
  readonly systemdCat: string | null;
  readonly logger: string | null;
  /** Whether the journal accepts streams, and whether the system log accepts datagrams. */
  readonly hasJournal: boolean;
  readonly hasSyslog: boolean;
}

export type SinkKind =
  | { readonly is: 'journal'; readonly fd: number }
  /** One program for all records, one line per record on its stdin; `prefixed`: it reads a priority in front of each line. */
  | { readonly is: 'program'; readonly file: string; readonly args: readonly string[]; readonly prefixed: boolean }
  | { readonly is: 'event-log' }
  | { readonly is: 'file' };

/**
 * Chooses the system's own log if there is one, else a file (persona daemon, contract 8). `logger --journald` is not used: it
 * turns all input into one entry when it ends, so a long-lived `logger` would write nothing.
 * @param label under which the system shows the records
 */
export function chooseSinkKind(around: LogSurroundings, label: string): SinkKind {
  const { platform, journalFd, systemdCat, logger, hasJournal, hasSyslog } = around;
  switch (platform) {
    case 'win32':
      return { is: 'event-log' };
    case 'darwin':
      return logger === null
        ? { is: 'file' }
        : { is: 'program', file: logger, args: ['-t', label, '-p', 'user.notice'], prefixed: false };
    default:
      if (journalFd !== null) return { is: 'journal', fd: journalFd };
      if (systemdCat !== null && hasJournal)
        return { is: 'program', file: systemdCat, args: [`--identifier=${label}`], prefixed: true };
      if (logger !== null && hasSyslog)
        return { is: 'program', file: logger, args: ['--tag', label, '--prio-prefix'], prefixed: true };
      return { is: 'file' };
  }
}

/** Parses `JOURNAL_STREAM`, which is `DEVICE:INODE`, both decimal. Null: it is not set or has another form. */
export function parseJournalStream(text: string | undefined): { readonly dev: bigint; readonly ino: bigint } | null {
  const [, dev, ino] = /^(\d{1,20}):(\d{1,20})$/.exec(text ?? '') ?? [];
  return dev === undefined || ino === undefined ? null : { dev: BigInt(dev), ino: BigInt(ino) };
}
