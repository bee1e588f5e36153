export * from './act/index.ts';
export * from './read/index.ts';
export {
  BOARD,
  BRAINCLAW,
  type BrainclawOptions,
  type BrainclawSource,
  brainclawSource,
  type Project,
  sourceIdOf,
} from './source.ts';
