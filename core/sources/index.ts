export * from './kijito/index.ts';
export type { SetEvidence, SetItem } from './set.ts';
export type {
  Checkpoint,
  DirectoryMember,
  Evidence,
  Gap,
  HiddenMessages,
  LevelEvidence,
  LogEvidence,
  MarkReadSelection,
  Message,
  PendingCounts,
  PendingCountsReader,
  Persona,
  PersonaDirectory,
  PollResult,
  Source,
  UnreadCounts,
} from './source.ts';
