import type { ErrorClass, Fsm } from '../../link/index.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a record is of, so that a reader can choose without reading the sentence. */
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

/** Whose records they are: the same words as the labels of the metrics. */
export interface LogOwner {
  readonly tenant_id: string;
  readonly agent_identity: string;
  readonly agent_surface: string;
  readonly machine_id: string;
  readonly pid: number;
  readonly version: string;
}

/** One record, whatever it is written to (persona daemon, contract 8). Never of content, a token or a sender. */
export interface LogRecord extends LogOwner {
  /** ISO 8601, UTC. */
  readonly ts: string;
  readonly level: LogLevel;
  readonly event: LogEvent;
  /** One line. */
  readonly msg: string;
  readonly fsm: Fsm;
  readonly error_class?: ErrorClass;
}

const PRIORITY: Readonly<Record<LogLevel, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

/** The number that syslog and the journal know a level by. */
export function toSyslogPriority(level: LogLevel): number {
  return PRIORITY[level];
}

/** A line of JSON, its keys in the order of the contract. */
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

/** The same for who reads a priority in front of a line: the journal behind a descriptor, and `logger --prio-prefix`. */
export function formatPrefixedLine(record: LogRecord): string {
  return `<${toSyslogPriority(record.level)}>${formatRecordLine(record)}`;
}
