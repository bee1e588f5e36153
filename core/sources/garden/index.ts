export * from './act/index.ts';
export * from './read/index.ts';
