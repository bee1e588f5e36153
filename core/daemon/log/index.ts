export type { DaemonLog, LogOutlet } from './daemon-log.ts';
export { openDaemonLog } from './outlets.node.ts';
export type { LogLevel } from './record.ts';
