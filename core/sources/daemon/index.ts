export { isAlive } from './alive.node.ts';
export { createDaemonSource, type DaemonSource, type DaemonSourceOptions } from './source.ts';
