export { endLeftOver, noteShim } from './left-over.node.ts';
export { parseShimLine, type ShimAnswer, type ShimCall, shimLine } from './lines.ts';
export { shimStarter } from './process.node.ts';
export type { ShimListener, ShimProcess, StartShim } from './process.ts';
export { keepShim, NO_SHIM, type Shim, type ShimNeeds, type ShimView } from './supervisor.ts';
