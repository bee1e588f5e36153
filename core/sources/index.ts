export * from './kijito/index.ts';
export type {
  Evidence,
  Hidden,
  Hole,
  Level,
  Levels,
  Look,
  Mark,
  Messages,
  Pending,
  Persona,
  Row,
  Source,
} from './source.ts';
