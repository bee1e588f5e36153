export type { DaemonLog } from './daemon-log.ts';
export { openDaemonLog } from './open-log.node.ts';
export type { Level } from './record.ts';
export type { Outlet } from './sink.ts';
