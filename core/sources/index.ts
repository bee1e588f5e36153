export * from './kijito/index.ts';
export type { ChangeName, SetEvidence, SetItem } from './set.ts';
export type {
  Evidence,
  Hidden,
  Hole,
  Level,
  Levels,
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
