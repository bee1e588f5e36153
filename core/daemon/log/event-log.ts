import { formatRecordLine, type LogLevel, type LogRecord } from './record.ts';

/** From winnt.h: EVENTLOG_ERROR_TYPE, EVENTLOG_WARNING_TYPE, EVENTLOG_INFORMATION_TYPE. */
const TYPE: Readonly<Record<LogLevel, number>> = { error: 1, warn: 2, info: 4, debug: 4 };
/** The same id for all events. No message file is registered, so the viewer shows the text after a preface of its own. */
const EVENT_ID = 1;

/** The arguments of `ReportEventW` after the handle, in order (persona daemon, contract 8). */
export type ReportedEvent = readonly [
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
