export { endOrphanedShim, writeShimPid } from './orphaned-shim.node.ts';
export { createShimStarter } from './process.node.ts';
export type { ShimListener } from './process.ts';
export { NO_SHIM, type Shim, type ShimView, startShim } from './supervisor.ts';
