export { isAlive } from './alive.node.ts';
export { createDaemonSource, DAEMON_SOURCE, type DaemonSource, type DaemonSourceOptions } from './source.ts';
