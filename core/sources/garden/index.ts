export * from './act/index.ts';
export * from './read/index.ts';
export { GARDEN, type GardenOptions, type GardenSource, gardenSource } from './source.ts';
