import type { ErrorClass, Fsm } from '../../link/index.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a record is about, so that a reader can filter without reading the sentence. */
export const LOG_EVENTS = [
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
export function toSyslogPriority(level: LogLevel): number {
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
