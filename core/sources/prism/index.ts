export { isAlive } from './alive.node.ts';
export { PRISM, type PrismOptions, type PrismSource, prismSource } from './source.ts';
