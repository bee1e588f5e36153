export { isAlive } from './alive.node.ts';
export type { DaemonMetric, DaemonSample } from './metrics.ts';
export { PRISM, type PrismOptions, type PrismSource, prismSource } from './source.ts';
export { STALLED_AFTER_MS } from './vital.ts';
