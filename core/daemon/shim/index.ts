export { createShimStarter, endOrphanedShim, writeShimPid } from './process.node.ts';
export { NO_SHIM, type Shim, type ShimListener, type ShimView, startShim } from './supervisor.ts';
