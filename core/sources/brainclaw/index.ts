export * from './act/index.ts';
export * from './read/index.ts';
export { createBrainclawSource } from './source.ts';
export {
  BOARD,
  BRAINCLAW,
  type BrainclawOptions,
  type BrainclawSource,
  toSourceId,
} from './source-options.ts';
