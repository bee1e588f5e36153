export type { DaemonLog } from './daemon-log.ts';
export { openDaemonLog } from './open-log.node.ts';
export type { LogLevel } from './record.ts';
export type { LogOutlet } from './sink.ts';
