export { endLeftOver, noteShim } from './left-over.node.ts';
export { shimStarter } from './process.node.ts';
export type { ShimListener } from './process.ts';
export { keepShim, NO_SHIM, type Shim, type ShimView } from './supervisor.ts';
