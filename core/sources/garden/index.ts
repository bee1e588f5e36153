export * from './act/index.ts';
export * from './read/index.ts';
export { createGardenSource, GARDEN, type GardenOptions, type GardenSource } from './source.ts';
