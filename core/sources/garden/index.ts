export * from './act/index.ts';
export { resolveGardenPlaces } from './doctor.node.ts';
export * from './read/index.ts';
export { GARDEN } from './settings.ts';
export { createGardenSource, type GardenOptions, type GardenSource } from './source.ts';
