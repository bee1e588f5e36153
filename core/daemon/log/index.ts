export { type DaemonLog, daemonLog } from './daemon-log.ts';
export { openDaemonLog } from './open-log.node.ts';
export { type Level, LOG_EVENTS, type LogEvent, type LogOwner, type LogRecord, recordLine } from './record.ts';
export { errorText, scrubbed } from './scrub.ts';
export type { LogSink, Outlet } from './sink.ts';
