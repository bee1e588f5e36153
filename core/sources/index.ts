export * from './kijito/index.ts';
export type { SetEvidence, SetItem } from './set.ts';
export type {
  Evidence,
  Hidden,
  Hole,
  Level,
  LevelEvidence,
  Levels,
  LogEvidence,
  Look,
  Mark,
  Member,
  Messages,
  Pending,
  Persona,
  Roll,
  Row,
  Source,
} from './source.ts';
