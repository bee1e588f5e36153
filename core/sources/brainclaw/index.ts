export * from './act/index.ts';
export * from './read/index.ts';
export { brainclawSource } from './source.ts';
export {
  BOARD,
  BRAINCLAW,
  type BrainclawOptions,
  type BrainclawSource,
  sourceIdOf,
} from './source-options.ts';
