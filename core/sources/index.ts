export * from './kijito/index.ts';
export type { Evidence, Level, Levels, Look, Mark, Pending, Persona, Row, Source } from './source.ts';
